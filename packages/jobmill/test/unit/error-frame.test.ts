/** The place in an application where an error was thrown, whatever folder, version and line it has. */
import { describe, expect, test } from 'vitest'
import { ownFrame, frameIn } from '../../src/job/grouping/frame.ts'
import { commonStart, foldKeys } from '../../src/job/grouping/fold.ts'

const stack = (...frames: readonly string[]): string =>
  `Error: x\n${frames.map((frame) => `    at ${frame}`).join('\n')}`

describe('the frame of the application', () => {
  test.each([
    ['async chargeCard (file:///app/dist/billing/charge.js:38:20)', 'chargeCard (billing/charge.js)'],
    ['chargeCard (/srv/releases/20260303/dist/billing/charge.js:41:7)', 'chargeCard (billing/charge.js)'],
    [
      'Object.chargeCard [as run] (C:\\apps\\shop\\dist\\billing\\charge.js:1:2)',
      'chargeCard (billing/charge.js)',
    ],
    ['new Invoice (webpack:///./src/invoice.ts?4f2a:3:1)', 'Invoice (invoice.ts)'],
    ['file:///srv/v2.15.0/worker.js:9:1', 'worker.js'],
    ['async file:///srv/v2.14.0/worker.js:7:1', 'worker.js'],
    ['Stripe.<anonymous> (/app/build/chunk-5GX7KQ2P.js:1:20331)', 'chunk-<id>.js'],
  ])('%s', (frame, expected) => {
    expect(ownFrame(stack(frame))).toBe(expected)
  })

  test('is the first one outside of dependencies, Node.js and Jobmill', () => {
    const frames = [
      'TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)',
      'process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
      'request (/app/node_modules/stripe/cjs/RequestSender.js:338:37)',
      'Array.map (<anonymous>)',
      'async Promise.all (index 0)',
      'runAttempt of mill 1 (/app/vendor/jobmill.js:3:1)',
      'run (/repo/packages/jobmill/dist/work/run-job.js:3:1)',
    ]
    expect(ownFrame(stack(...frames, 'async pay (/app/src/pay.ts:3:1)', 'main (/app/src/a.ts:1:1)'))).toBe(
      'pay (pay.ts)',
    )
    expect(ownFrame(stack(...frames))).toBeNull()
    expect(ownFrame('Error: at the gate (/a/b.ts:1:1)')).toBeNull()
    expect(ownFrame(`x\n${'    at '.repeat(100_000)}`)).toBeNull()
  })

  test('is read from the last line of a log', () => {
    const line = JSON.stringify({ at: 1, fields: { stack: 's', frame: 'pay (pay.ts)' } })
    expect(frameIn(`{}\n${line}`)).toBe('pay (pay.ts)')
    expect(frameIn(line.slice(-30))).toBe('pay (pay.ts)')
    expect(frameIn(`${line}\n{}`)).toBeNull()
    expect(frameIn(null)).toBeNull()
  })
})

describe('fold keys', () => {
  test('are those of the class with the start of the message, and with the frame', () => {
    const start = 'could not deliver the newsletter of today to'
    const [byStart, byFrame] = foldKeys('a', `Error: ${start} ada`, 'run (a.ts)')
    expect(foldKeys('a', `Error: ${start} bo`, null)).toEqual([byStart])
    expect(foldKeys('a', 'Error: no', 'run (a.ts)')[1]).toBe(byFrame)
    for (const [kind, shape, frame] of [
      ['b', `Error: ${start} ada`, 'run (a.ts)'],
      ['a', `TypeError: ${start} ada`, 'run (a.ts)'],
      ['a', 'Error: no', 'run (b.ts)'],
    ] as const) {
      const keys = foldKeys(kind, shape, frame)
      expect(keys).not.toContain(byStart)
      expect(keys).not.toContain(byFrame)
    }
  })

  test('have a common start that ends with a word', () => {
    expect(commonStart(['Error: ada left', 'Error: adam came'])).toBe('Error: …')
    expect(commonStart(['Error: x', 'Error: x'])).toBe('Error: x')
    expect(commonStart(['a', 'b'])).toBe('…')
  })
})

// A job with two crashes is claimed alone: nothing runs at the same time, and other jobs are not starved.
import { describe, expect, test } from 'vitest'
import { dispatcherBench } from './dispatcher-bench.ts'
import { aLease } from './leases.ts'

const suspect = () => aLease({ queue: 'a', crashes: 2 })
const other = () => aLease({ queue: 'a' })

describe('a dispatcher with a quarantined job', () => {
  test('claims it when nothing runs, and nothing else until it has ended', async () => {
    const { platform, dispatcher, quarantine, ready, ran, claims, end } = dispatcherBench({ a: 2, b: 1 })
    dispatcher.start()
    const alone = suspect()
    ready.push(alone, other())
    quarantine.seen(true)
    dispatcher.wake()
    await platform.advance('5s')
    expect(ran).toEqual([alone])
    expect(claims).toEqual([
      {
        queues: [
          { queue: 'a', room: 1 },
          { queue: 'b', room: 1 },
        ],
        limit: 1,
        quarantined: 'only',
      },
    ])
    end(alone)
    dispatcher.poke()
    await platform.settled()
    expect(ran).toHaveLength(2)
  })

  test('goes quiet for it while others run, and takes it as soon as they have ended', async () => {
    const { platform, dispatcher, quarantine, ready, ran, end } = dispatcherBench({ a: 2 })
    dispatcher.start()
    const first = other()
    ready.push(first)
    dispatcher.wake()
    await platform.settled()
    const alone = suspect()
    ready.push(alone, other())
    quarantine.seen(true)
    dispatcher.wake()
    await platform.advance(900)
    // There is room and work, and nothing is claimed.
    expect(ran).toEqual([first])
    end(first)
    dispatcher.poke()
    await platform.settled()
    expect(ran).toEqual([first, alone])
  })

  test('works on the others when the quiet time is over, without being woken', async () => {
    const { platform, dispatcher, quarantine, ready, ran } = dispatcherBench({ a: 2 })
    dispatcher.start()
    ready.push(other())
    dispatcher.wake()
    await platform.settled()
    ready.push(suspect(), other())
    quarantine.seen(true)
    dispatcher.wake()
    await platform.advance(999)
    expect(ran).toHaveLength(1)
    await platform.advance(1)
    expect(ran).toHaveLength(2)
    expect(ran.every(({ crashes }) => crashes === 0)).toBe(true)
  })

  test('that somebody else took goes on with the others at once', async () => {
    const { platform, dispatcher, quarantine, ready, ran, claims } = dispatcherBench({ a: 2 })
    dispatcher.start()
    ready.push(other())
    quarantine.seen(true)
    dispatcher.wake()
    await platform.settled()
    expect(claims.map((claim) => claim.quarantined)).toEqual(['only', 'skip'])
    expect(ran).toHaveLength(1)
  })
})

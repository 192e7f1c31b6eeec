// A job with two crashes is claimed alone: nothing runs at the same time, and other jobs are not starved.
import { describe, expect, test } from 'vitest'
import { dispatcherBench } from './dispatcher-bench.ts'
import { aLease } from './leases.ts'

const suspect = () => aLease({ queue: 'a', crashes: 2 })
const other = () => aLease({ queue: 'a' })

describe('a dispatcher with a quarantined job', () => {
  test('claims it when nothing runs, and claims nothing else until it ends', async () => {
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

  test('pauses claims while other jobs run, and claims it as soon as they end', async () => {
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

  test('claims other jobs when the pause ends, without a wake-up', async () => {
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

  test('claims other jobs at once if another process took it', async () => {
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

// Which instances a notification wakes: as many workers as there are jobs, on instances with free workers.
import { describe, expect, test } from 'vitest'
import type { Member } from '../../src/runtime/queue-watch.ts'
import { wakeUps } from '../../src/runtime/wake-ups.ts'
import type { WakeUp } from '../../src/store/wake-up.ts'
import { testPlatform } from '../../src/testing/index.ts'

interface Place {
  readonly room?: number
  readonly kinds?: readonly string[]
}

/** Instances that receive each other's notifications, each with ten workers, of which some are free. */
function cluster(places: Readonly<Record<string, Place>>) {
  const platform = testPlatform()
  const wakes: string[] = []
  const passed: WakeUp[] = []
  const members = Object.entries(places).map(([instance, { kinds = ['a'] }]): Member => ({
    instance,
    workers: 10,
    kinds,
  }))
  const notifications = new Map(
    Object.entries(places).map(([me, { room = 10, kinds = ['a'] }]) => [
      me,
      wakeUps({
        me,
        kinds,
        members: () => members,
        slots: { room: () => (room > 0 ? [{ queue: 'mail', room }] : []) },
        // An instance without free workers ignores the wake-up, so do not count it.
        wake: () => void (room > 0 && wakes.push(me)),
        store: {
          forward(wakeUp) {
            passed.push(wakeUp)
            for (const notifier of notifications.values()) notifier.receive([wakeUp])
          },
        },
        platform,
      }),
    ]),
  )
  const notify = (jobs: number | null, turn = 7, passes = true): void => {
    for (const notifier of notifications.values())
      notifier.receive([{ queue: 'mail', jobs, seed: turn, skip: 0, passes }])
  }
  return { platform, wakes, passed, notifications, notify }
}

const thirty = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`i${n}`, {}]))

describe('a notification', () => {
  test('for one job wakes one instance of thirty, and not always the same', () => {
    const first = new Set<string>()
    for (let turn = 0; turn < 50; turn += 1) {
      const { notify, wakes } = cluster(thirty)
      notify(1, turn)
      expect(wakes).toHaveLength(1)
      first.add(wakes[0] ?? '')
    }
    expect(first.size).toBeGreaterThan(10)
  })

  test('for 35 jobs wakes four instances of ten workers', () => {
    const { notify, wakes, passed } = cluster(thirty)
    notify(35)
    expect([new Set(wakes).size, passed]).toEqual([4, []])
  })

  test('without a job count wakes every instance', () => {
    const { notify, wakes } = cluster(thirty)
    notify(null)
    expect(wakes).toHaveLength(30)
  })

  test('is forwarded to the next instance while the selected one is busy, until one has room', () => {
    const places = {
      ...Object.fromEntries(Object.keys(thirty).map((id) => [id, { room: 0 }])),
      last: { room: 1 },
    }
    for (let turn = 0; turn < 20; turn += 1) {
      const { notify, wakes } = cluster(places)
      notify(1, turn)
      expect(wakes).toEqual(['last'])
    }
  })

  test('ends if no instance has room', () => {
    const { notify, wakes, passed } = cluster({ a: { room: 0 }, b: { room: 0 }, c: { room: 0 } })
    notify(5)
    expect([wakes, passed.length]).toEqual([[], 2])
  })

  test('forwards the jobs for which the selected instance has no room', () => {
    const { notify, wakes } = cluster({
      a: { room: 3 },
      b: { room: 3 },
      c: { room: 3 },
      d: { room: 3 },
    })
    notify(8)
    expect(new Set(wakes).size).toBe(3)
  })

  test('is forwarded after an empty claim if other instances have other kinds', () => {
    const { notify, wakes, notifications } = cluster({ a: { kinds: ['a'] }, b: { kinds: ['b'] } })
    notify(1)
    const [first = ''] = wakes
    notifications.get(first)?.foundNothing()
    expect(wakes).toEqual([first, first === 'a' ? 'b' : 'a'])
    notifications.get(first)?.foundNothing()
    expect(wakes).toHaveLength(2)
  })

  test('is not forwarded after an empty claim if all instances have the same kinds', () => {
    const { notify, wakes, notifications, passed } = cluster({ a: {}, b: {} })
    notify(1)
    notifications.get(wakes[0] ?? '')?.foundNothing()
    expect([wakes.length, passed]).toEqual([1, []])
  })

  test('that no instance forwards makes the others claim a moment later', async () => {
    const { platform, notify, wakes, passed } = cluster({ a: {}, b: {}, c: {} })
    notify(1, 7, false)
    notify(1, 7, false)
    expect(new Set(wakes).size).toBe(1)
    await platform.advance(25)
    expect([new Set(wakes).size, wakes.length, passed]).toEqual([3, 4, []])
  })
})

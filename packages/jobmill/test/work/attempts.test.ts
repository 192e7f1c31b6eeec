// Which handlers run in this process, and which outcomes are not written yet.
import { beforeEach, describe, expect, test } from 'vitest'
import { type Attempts, attempts } from '../../src/work/attempts.ts'
import { anAttempt, microtasks } from './leases.ts'

let all: Attempts
beforeEach(() => {
  all = attempts({ ended() {}, settled() {} })
})

describe('the attempts of a process', () => {
  test('count as running until their handlers end, in total and by queue', () => {
    const [a, b, c] = [anAttempt(), anAttempt(), anAttempt({ queue: 'other' })]
    for (const one of [a, b, c]) all.add(one)
    expect([all.running(), all.running('default'), all.running('other'), all.running('none')]).toEqual([
      3, 2, 1, 0,
    ])
    all.end(a)
    expect([all.running(), all.running('default'), all.running('other')]).toEqual([2, 1, 1])
    expect([a.ended, b.ended]).toEqual([true, false])
  })

  test('end once, even if end is called twice', () => {
    const [a, b] = [anAttempt(), anAttempt()]
    all.add(a)
    all.add(b)
    all.end(a)
    all.end(a)
    expect([all.running(), all.unwritten]).toEqual([1, 1])
  })

  test('count as unwritten from their end until they are removed', () => {
    const [a, b] = [anAttempt(), anAttempt()]
    all.add(a)
    all.add(b)
    expect(all.unwritten).toBe(0)
    all.end(a)
    all.end(b)
    expect(all.unwritten).toBe(2)
    all.forget(a)
    expect([all.unwritten, all.running()]).toEqual([1, 0])
    expect([...all.live]).toEqual([b])
  })

  test('are found by job id until they are removed, even two of one job', () => {
    const first = anAttempt()
    const { id, token } = first.lease
    const second = anAttempt({ id, token: token + 100 })
    const other = anAttempt()
    for (const one of [first, second, other]) all.add(one)
    expect(all.find(id)).toEqual([first, second])
    all.end(first)
    expect(all.find(id)).toEqual([first, second])
    all.forget(first)
    expect(all.find(id)).toEqual([second])
    all.forget(second)
    expect([all.find(id), all.find(other.lease.id)]).toEqual([[], [other]])
  })

  test('can be removed in any order, and twice', () => {
    const some = Array.from({ length: 6 }, () => anAttempt())
    for (const one of some) all.add(one)
    for (const at of [5, 0, 3, 0]) all.forget(some[at] ?? anAttempt())
    expect(new Set(all.live)).toEqual(new Set([some[1], some[2], some[4]]))
    for (const one of some) all.end(one)
    expect(all.unwritten).toBe(3)
    expect(some.map(({ lease }) => all.find(lease.id).length)).toEqual([0, 1, 1, 0, 1, 0])
    all.add(some[0] ?? anAttempt())
    expect(all.find(some[0]?.lease.id ?? '')).toEqual([some[0]])
  })

  test('are idle when no handler runs, written or not, and every waiter is notified', async () => {
    await all.idle()
    const [a, b] = [anAttempt(), anAttempt()]
    all.add(a)
    all.add(b)
    const waiters: number[] = []
    const waiting = [1, 2].map((who) => all.idle().then(() => waiters.push(who)))
    all.end(a)
    await microtasks(5)
    expect(waiters).toEqual([])
    all.end(b)
    await Promise.all(waiting)
    expect(waiters).toEqual([1, 2])
    expect(all.unwritten).toBe(2)
  })
})

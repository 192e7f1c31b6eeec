// Compares what this instance runs with what the database assigns to it.
import { expect, test } from 'vitest'
import type { Held, Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import { attempts } from '../../src/work/attempts.ts'
import { compare } from '../../src/dispatch/compare.ts'
import { aLease, anAttempt, unavailable } from '../work/leases.ts'

const old = ({ id, token }: Pick<Lease, 'id' | 'token'>): Held => ({ id, token, ageMs: 5_000 })

function bench(held: () => Promise<Held[]>) {
  const released: string[] = []
  const all = attempts({ ended() {}, settled() {} })
  const buffered: Lease[] = []
  const run = (): Promise<number | null> =>
    compare({
      held,
      finish: async (items: readonly Finish[]) => {
        released.push(...items.map(({ id }) => id))
        return []
      },
      known: () => [...Array.from(all.live, ({ lease }) => lease), ...buffered],
      found: () => {},
      failing: () => {},
      working: () => {},
    })
  return { all, buffered, released, run }
}

test('P16 releases a lease that this process does not know, once it is old enough', async () => {
  const [lost, young, known, waiting] = [aLease(), aLease(), anAttempt(), aLease()]
  const { all, buffered, released, run } = bench(async () => [
    old(lost),
    { ...old(young), ageMs: 1_200 },
    old(known.lease),
    old(waiting),
  ])
  all.add(known)
  buffered.push(waiting)
  expect(await run()).toBe(800)
  expect(released).toEqual([lost.id])
})

test('P2 keeps a lease that starts or ends during the comparison', async () => {
  const [ends, begins, waits] = [anAttempt(), anAttempt(), aLease()]
  const answer = Promise.withResolvers<Held[]>()
  const { all, buffered, released, run } = bench(() => answer.promise)
  all.add(ends)
  const compared = run()
  all.end(ends)
  all.forget(ends)
  all.add(begins)
  buffered.push(waits)
  answer.resolve([old(ends.lease), old(begins.lease), old(waits)])
  expect(await compared).toBeNull()
  expect(released).toEqual([])
})

test('P16 compares again soon if the database did not answer', async () => {
  const { run } = bench(() => Promise.reject(unavailable()))
  expect(await run()).toBe(1_000)
})

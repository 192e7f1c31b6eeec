// Compares what this instance runs with what the database assigns to it.
import { expect, test } from 'vitest'
import type { Held, Lease } from '../../src/store/claim.ts'
import type { Finish } from '../../src/store/finish.ts'
import { attempts } from '../../src/work/attempts.ts'
import { compare } from '../../src/work/compare.ts'
import { aLease, anAttempt, unavailable } from './leases.ts'

const old = ({ id, token }: Pick<Lease, 'id' | 'token'>): Held => ({ id, token, ageMs: 5_000 })

function bench(held: () => Promise<Held[]>) {
  const handedBack: string[] = []
  const all = attempts()
  const ahead: Lease[] = []
  const run = (): Promise<number | null> =>
    compare({
      held,
      finish: async (items: readonly Finish[]) => {
        handedBack.push(...items.map(({ id }) => id))
        return []
      },
      attempts: all,
      ahead: () => ahead,
      found: () => {},
      failing: () => {},
      working: () => {},
    })
  return { all, ahead, handedBack, run }
}

test('P16 releases a lease that this process does not know, once it is old enough', async () => {
  const [lost, young, known, waiting] = [aLease(), aLease(), anAttempt(), aLease()]
  const { all, ahead, handedBack, run } = bench(async () => [
    old(lost),
    { ...old(young), ageMs: 1_200 },
    old(known.lease),
    old(waiting),
  ])
  all.add(known)
  ahead.push(waiting)
  expect(await run()).toBe(800)
  expect(handedBack).toEqual([lost.id])
})

test('P2 keeps a lease that starts or ends during the comparison', async () => {
  const [ends, begins, waits] = [anAttempt(), anAttempt(), aLease()]
  const answer = Promise.withResolvers<Held[]>()
  const { all, ahead, handedBack, run } = bench(() => answer.promise)
  all.add(ends)
  const compared = run()
  all.end(ends)
  all.forget(ends)
  all.add(begins)
  ahead.push(waits)
  answer.resolve([old(ends.lease), old(begins.lease), old(waits)])
  expect(await compared).toBeNull()
  expect(handedBack).toEqual([])
})

test('P16 compares again soon if the database did not answer', async () => {
  const { run } = bench(() => Promise.reject(unavailable()))
  expect(await run()).toBe(1_000)
})

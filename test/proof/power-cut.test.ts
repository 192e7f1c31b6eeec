/**
 * Simulates a power cut: everything that was acknowledged is there afterwards, whatever else was half
 * written.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { FullStore } from 'jobmill'
import { aroundVerbs } from '../../packages/jobmill/src/store/verbs.ts'
import { type PowerCutOptions, type PowerCuts, powerCuts } from '../../proof/chaos/rounds/power-cut.ts'
import { chance } from '../../proof/simulate/chance.ts'
import { inFull } from '../support/suite/in-full.ts'

function cut(options: Omit<PowerCutOptions, 'folder' | 'chance'>): Promise<PowerCuts> {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-power-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return powerCuts({ ...options, folder, chance: chance(1) })
}

test('P1 P3 sqlite: acknowledged writes survive a power cut at every sync point', async () => {
  // Enough steps for the log to be reset.
  const { cuts, checkpoints, acknowledged, broken } = await cut({ steps: inFull(40, 32) })
  expect(broken).toEqual([])
  expect(cuts).toBeGreaterThan(120)
  expect(checkpoints).toBeGreaterThan(0)
  expect(acknowledged).toBeGreaterThan(100)
}, 120_000)

/** Acknowledges before it has written anything. */
const tooSoon = (store: FullStore<never>): FullStore<never> =>
  aroundVerbs(store, ['enqueue'], (_, call) => (...args) => {
    call(...args).catch(() => {})
    const [jobs] = args as [readonly { id: string }[]]
    return Promise.resolve(jobs.map(({ id }) => ({ id, outcome: 'enqueued' })))
  })

test('an acknowledgement before the commit is detected', async () => {
  const { broken } = await cut({ steps: 5, around: tooSoon })
  expect(broken.some((what) => what.endsWith('is gone'))).toBe(true)
}, 60_000)

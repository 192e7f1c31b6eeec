/**
 * Tests the simulator: several processes with the real runtime on one store, with all faults drawn from one
 * seed.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { simulateDeploys } from '../../proof/simulate/deploys/simulate-deploys.ts'
import { simulateOutages } from '../../proof/simulate/faults/outages.ts'
import { countEntries } from '../../proof/simulate/seeds/counts.ts'
import { simulate, type Simulated } from '../../proof/simulate/simulate.ts'
import { inFull } from '../support/suite/in-full.ts'
import { excuse } from '../support/leaks/things.ts'

excuse('mill', 'abort listener')

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Seeds that once found a bug. Remove a seed when it no longer reaches that bug. */
const BUG_SEEDS: readonly (readonly [number, string])[] = [
  [171, 'the rollback of a failed start arrived late and took the jobs of the next start'],
  [98, 'a process resumed long after its lease, received the reply to a claim, and started its jobs'],
  [112, 'a process was frozen between a sleep and the park, and the job never ran again'],
  [128, 'a process was stopped while it read the steps of a job, and started its handler afterwards'],
]

/** The same for histories of deploys. */
const DEPLOY_SEEDS: readonly (readonly [number, string])[] = [
  [70, 'a process was stopped while it read a cancelled job, and called onCancelled afterwards'],
  [72, 'a process resumed long after its lease, and called onCancelled before it noticed'],
  [224, 'a process resumed long after its lease, received recorded steps, and started the handler'],
]

const SEEDS = inFull(200, 3)
/** These three seeds contain all the events that the test below asks for. */
const FIRST = inFull(1, 14)

/** Events that must be frequent for a run to prove anything. */
const ABOUT = [
  'taken back',
  'withdrawn',
  'cancelled',
  'granted',
  'given back',
  'ticked',
  'effect',
  'ended',
  'handed off',
  'step ran',
  'step recorded',
  'step waits',
  'event stored',
  'event acknowledged',
  'registered',
  'ended by cancel',
  'kills',
  'stills',
  'stops',
  'steps',
  'cuts',
  'outages',
] as const

interface Summary {
  readonly seeds: number
  readonly violations: number
  readonly happened: Readonly<Record<string, number>>
}

/** Like `npm run simulate`. */
async function simulateMany(seeds: number): Promise<Summary> {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-simulate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const json = join(folder, 'summary.json')
  const program = ['--import', './test/support/programs/jobmill-sources.ts', 'proof/simulate/main.ts']
  await promisify(execFile)(
    process.execPath,
    [...program, '--short', '--seed', String(FIRST), '--seeds', String(seeds), '--json', json],
    {
      cwd: root,
    },
  )
  return JSON.parse(readFileSync(json, 'utf8')) as Summary
}

const describeViolations = ({ seed, violations }: Simulated): string[] =>
  violations.map(({ rule, message }) => `seed ${seed}: ${rule}: ${message}`)

/** Jobs recovered from a process that had really died. */
function realCrashes(history: Simulated['history']): number {
  const gone = new Set(history.flatMap((one) => (one.what === 'gone' ? [one.instance] : [])))
  return history.filter((one) => one.what === 'taken back' && one.isCrash === true && gone.has(one.instance))
    .length
}

describe('simulated histories', () => {
  // Each seed takes a fifth of a second of CPU time. Every night 5,000 run, and longer ones.
  test(`P2 P3 P4 P12 P13 P17 P18 every guarantee holds, with ${SEEDS} seeds`, async () => {
    const { happened, ...summary } = await simulateMany(SEEDS)
    expect(summary).toMatchObject({ seeds: SEEDS, violations: 0 })
    expect(ABOUT.filter((what) => (happened[what] ?? 0) < SEEDS / 4)).toEqual([])
  }, 300_000)

  test.each(BUG_SEEDS)('P2 P3 seed %i: %s', async (seed) => {
    expect(describeViolations(await simulate(seed))).toEqual([])
  })

  test.each(DEPLOY_SEEDS)(
    'P2 P14 P17 deploys, seed %i: %s',
    async (seed) => {
      const simulated = await simulateDeploys(seed)
      expect(describeViolations(simulated)).toEqual([])
      const happened = countEntries(simulated.history)
      expect(happened['registered']).toBeGreaterThan(3)
      expect(happened['ended by cancel']).toBeGreaterThan(0)
    },
    60_000,
  )

  // Two to six processes each, one to six outages of about one lease, jobs that run longer than a lease, and
  // in some a killed process.
  test('P4 P5 D6 outages of the store count no crash: each job is done, and only killed processes count', async () => {
    for (let seed = 1; seed <= inFull(200, 2); seed += 1) {
      const { history, ...simulated } = await simulateOutages(seed)
      expect(describeViolations({ ...simulated, history })).toEqual([])
      const look = history.findLast((one) => one.what === 'look')
      expect([...(look?.jobs.values() ?? [])].filter((state) => state !== 'done')).toEqual([])
      expect([...(look?.crashes?.values() ?? [])].reduce((sum, n) => sum + n, 0)).toBe(realCrashes(history))
      // No job was quarantined: at most one process died.
      expect(Math.max(...(look?.crashes?.values() ?? []))).toBeLessThan(2)
    }
  }, 300_000)

  test('P5 D6 seed 126: outages, each too short to notice, dropped two heartbeats of one process', async () => {
    expect(describeViolations(await simulateOutages(126))).toEqual([])
  }, 60_000)

  test('are equal for equal seeds, and different for others', async () => {
    const short = inFull(false, true)
    const [one, again, other] = [
      await simulate(7, { short }),
      await simulate(7, { short }),
      await simulate(8, { short }),
    ]
    expect(again.fingerprint).toBe(one.fingerprint)
    expect(again.history).toEqual(one.history)
    expect(other.fingerprint).not.toBe(one.fingerprint)
  }, 60_000)
})

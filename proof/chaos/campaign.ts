/** Plans the rounds: each nemesis once on each store, then in random order until the time is over. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { nowMs } from '../cluster/clock.ts'
import { closers } from '../closing.ts'
import { type Chance, chance as chanceFrom } from '../simulate/chance.ts'
import {
  ASYNC_FAILOVER,
  FAILOVER_SYNC,
  NEMESES,
  OUTAGES,
  POWER_CUT,
  RESTORED_BACKUP,
  ROLLING_DEPLOY,
  START_STORM,
  STEPS,
  strikes,
} from './nemeses/all.ts'
import type { Options } from './options.ts'
import { anyOutages, outages, severeOutages } from './rounds/outages.ts'
import { powerCuts, unsyncedCuts } from './rounds/power-cut.ts'
import { rollingDeploy } from './rounds/rolling-deploy.ts'
import { round, type RoundResult } from './rounds/round.ts'
import type { Nemesis, StoreName } from './scene.ts'
import { startStorm } from './rounds/start-storm.ts'
import { FULL_STEPS, QUICK_STEPS, steps } from './rounds/steps.ts'
import { laggingStandby, restoredDatabase, restoredFile, synchronousStandby } from './rounds/time-machines.ts'
import { timeTravel } from './rounds/time-travel.ts'

export interface CampaignOptions {
  readonly options: Options
  readonly folder: string
  readonly signal: AbortSignal
  readonly closing: (close: () => Promise<unknown>) => void
}

const POWER_CUT_STEPS = 150
const UNSYNCED_STEPS = 60

export async function campaign({
  options,
  folder,
  signal,
  closing,
}: CampaignOptions): Promise<RoundResult[]> {
  const chance = chanceFrom(options.seed)
  const until = nowMs() + options.minutes * 60_000
  const results: RoundResult[] = []

  /** Closes the resources of a round when it ends, or when the whole run is stopped. */
  async function add(what: (closing: CampaignOptions['closing']) => Promise<RoundResult>): Promise<void> {
    const { add: own, close } = closers('chaos')
    closing(close)
    results.push(await what(own))
    await close()
  }

  /** A scene that ends with an error counts as a finding, and the others still run. */
  async function addScene(
    name: string,
    store: StoreName,
    what: (scene: SceneOptions) => Promise<RoundResult>,
    folder: string,
  ): Promise<void> {
    if (!options.only.includes(name) || !strikes(name, store)) return
    await add(async (own) => {
      try {
        return await what({ name, store, signal, closing: own, folder })
      } catch (error) {
        if (signal.aborted) throw error
        console.log(`${name}: ${String(error)}`)
        return failed(name, store, error)
      }
    })
  }

  for (let n = 1; n === 1 || nowMs() < until; n += 1) {
    for (const store of options.stores) {
      const common = { store, rate: options.rate, signal }
      const nemeses = inOrder(store, options.only, chance)
      const of = (what: string): string => path.join(folder, `${what}-${n}-${store}`)
      if (nemeses.length > 0)
        await add((own) =>
          round({ ...common, closing: own, nemeses, chance: chance.fork(), folder: of('round') }),
        )
      if (options.only.includes(START_STORM))
        await add((own) => startStorm({ ...common, closing: own, folder: of('storm') }))
      if (store === 'sqlite' && options.only.includes(POWER_CUT))
        await add(() => powerCut(of('power'), chance.fork()))
      const leaseMs = options.minutes === 0 ? 3_000 : 10_000
      await addScene(ROLLING_DEPLOY, store, rollingDeploy, of(ROLLING_DEPLOY))
      // In full only once, because that takes minutes.
      const amounts = options.minutes > 0 && n === 1 ? FULL_STEPS : QUICK_STEPS
      await addScene(STEPS, store, (scene) => steps({ ...scene, chance: chance.fork() }, amounts), of(STEPS))
      for (const [at, pattern] of [severeOutages(leaseMs), anyOutages(leaseMs, chance.fork())].entries())
        await addScene(OUTAGES, store, (scene) => outages(scene, pattern), of(`${OUTAGES}-${at}`))
      await addScene(RESTORED_BACKUP, store, restoredBackup, of(RESTORED_BACKUP))
      await addScene(ASYNC_FAILOVER, store, asyncFailover, of(ASYNC_FAILOVER))
      await addScene(FAILOVER_SYNC, store, failoverSync, of(FAILOVER_SYNC))
    }
  }
  return results
}

type SceneOptions = Omit<Parameters<typeof timeTravel>[0], 'machine' | 'countedAs'>

function failed(name: string, store: StoreName, error: unknown): RoundResult {
  return {
    struck: [{ name, store, injected: 1, recoverySeconds: null }],
    broken: [`error: ${name} on ${store} ended with ${String(error)}.`],
    lost: 0,
    acknowledged: 0,
    finished: 0,
    staleWritesRefused: 0,
  }
}

async function restoredBackup(scene: SceneOptions): Promise<RoundResult> {
  mkdirSync(scene.folder)
  const machine =
    scene.store === 'sqlite' ? restoredFile(scene.folder) : await restoredDatabase(scene.closing)
  return timeTravel({ ...scene, machine, countedAs: 'rolledBack' })
}

async function asyncFailover(scene: SceneOptions): Promise<RoundResult> {
  return timeTravel({ ...scene, machine: await laggingStandby(scene.closing), countedAs: 'unreplicated' })
}

/** Nothing is lost by definition: every acknowledged job must still exist. */
async function failoverSync(scene: SceneOptions): Promise<RoundResult> {
  return timeTravel({ ...scene, machine: await synchronousStandby(scene.closing), countedAs: null })
}

/** The failover comes last, because it uses up the standby. */
function inOrder(store: StoreName, only: readonly string[], chance: Chance): Nemesis[] {
  const wanted = NEMESES.filter(({ name, stores }) => only.includes(name) && stores.includes(store))
  const rank = new Map(wanted.map((one) => [one, one.name === 'pg-failover' ? 2 : chance.next()]))
  return wanted.toSorted((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0))
}

async function powerCut(folder: string, chance: Chance): Promise<RoundResult> {
  mkdirSync(folder)
  console.log('\nThe power is cut under a SQLite file')
  const torn = await powerCuts({ folder, steps: POWER_CUT_STEPS, chance })
  const unsynced = await unsyncedCuts({ folder: path.join(folder, 'image'), steps: UNSYNCED_STEPS, chance })
  const sum = (figure: 'cuts' | 'acknowledged' | 'finished' | 'lost'): number =>
    torn[figure] + (unsynced?.[figure] ?? 0)
  console.log(`${POWER_CUT}: ${sum('cuts')} times, ${sum('acknowledged')} jobs were acknowledged`)
  if (unsynced === null) console.log('no disk could be mounted: it was not seen what is there without a sync')
  const recoverySeconds = Number((torn.reopenMs / 1_000).toFixed(2))
  return {
    struck: [{ name: POWER_CUT, store: 'sqlite', injected: sum('cuts'), recoverySeconds }],
    broken: [...torn.broken, ...(unsynced?.broken ?? [])],
    lost: sum('lost'),
    acknowledged: sum('acknowledged'),
    finished: sum('finished'),
    staleWritesRefused: 0,
  }
}

/** Looking after the cluster by hand: what its duties are, who does them, and one pass of them now. */
import type { Emit } from '../job/events.ts'
import { checkString } from '../job/names.ts'
import type { Slot } from '../store/duty.ts'
import type { Store } from '../store/store.ts'
import type { Counts } from '../upkeep/duty.ts'
import type { DutyStatus } from '../upkeep/duty-log.ts'
import { retainAll } from '../upkeep/retain.ts'
import type { Engine } from './engine.ts'
import type { Resolved } from './options.ts'
import { reapAndEmit } from './upkeep.ts'

export interface DutyView {
  readonly name: string
  /** The instance that does it for the whole cluster; null when nobody does, or each instance does it for itself. */
  readonly leader: string | null
  /** When a pass last succeeded, or none was needed, as its leader told; null when that is not known. */
  readonly lastSuccessAt: number | null
  /** Passes that failed in a row. */
  readonly failures: number
  /** As this process knows it; null for one that it does not have. */
  readonly here: DutyStatus | null
}

export interface DutyControl {
  /** The duties of the cluster, and those of this process when it was started. */
  duties(): Promise<DutyView[]>
  /** One pass of a duty of this process, whoever leads it. Tells what it did. */
  runDuty(name: string): Promise<Counts>
  /** How the workers of queues that have a total are split over the instances. */
  slots(): Promise<Slot[]>
  /** Takes back the jobs of processes that died, now. Works without a start. */
  recover(): Promise<Counts>
  /** Deletes what is no longer kept, now. Works without a start. */
  retain(): Promise<Counts>
}

export interface DutyControlTools {
  readonly opened: () => Promise<Store>
  readonly started: (what: string) => Promise<void>
  readonly engine: () => Engine | null
  readonly options: Resolved
  readonly emit: Emit
}

export function dutyControl({ opened, started, engine, options, emit }: DutyControlTools): DutyControl {
  const never = new AbortController().signal
  return {
    async duties() {
      const known = await (await opened()).duties()
      const here = engine()?.duties() ?? []
      const names = new Set([...known, ...here].map(({ name }) => name))
      return [...names].toSorted().map((name) => {
        const record = known.find((one) => one.name === name)
        const own = here.find((one) => one.name === name) ?? null
        return {
          name,
          leader: record?.leader ?? null,
          lastSuccessAt: record?.lastSuccessAt ?? null,
          failures: record?.failures ?? own?.failures ?? 0,
          here: own,
        }
      })
    },
    async runDuty(name) {
      checkString(name, 'name')
      await started('runDuty')
      return engine()?.runDuty(name) ?? {}
    },
    slots: async () => (await opened()).slots(),
    recover: async () => reapAndEmit(await opened(), options.crashesUntilDead, emit, never),
    retain: async () => retainAll(await opened(), options.retain.ages, never),
  }
}

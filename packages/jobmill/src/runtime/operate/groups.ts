/** The groups of queues: lists them, and changes the settings of one at run time. */
import type { Duration } from '../../job/duration.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { invalidValue, JobmillError, quote } from '../../job/errors.ts'
import { checkKey, checkName } from '../../job/names.ts'
import { checkBoolean, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { groupLimits, hasGroups } from '../../job/queue/group-settings.ts'
import type { FullStore } from '../../store/store.ts'
import type { GroupPatch, GroupRecord } from '../../store/types/group.ts'
import { MAY_LAG } from '../../store/types/job-list.ts'
import { queueUnknown } from '../../store/types/queue-record.ts'
import type { StoreAccess } from '../store-access.ts'
import { byOf, type ByOption } from './overrides.ts'

/** Omitted options stay unchanged. Null: the setting of the queue applies again. */
export interface GroupChange {
  /** How many turns the group gets, compared with the others: 0.1 to 100 (default 1). */
  readonly weight?: number | null
  /** How many of its jobs run at once. */
  readonly concurrency?: number | null
  /** How many of its jobs start per `per`. */
  readonly rate?: number | null
  /** The period of `rate` (default 1 s). */
  readonly per?: Duration
  /** True: no job of the group starts. */
  readonly paused?: boolean
}

interface GroupListOptions {
  /** `waiting`, the default: most waiting jobs first. `oldest`: the longest wait first. `name`: by name. */
  readonly sort?: 'waiting' | 'oldest' | 'name'
  /** At most so many groups, 1 to 1,000 (default 100). */
  readonly limit?: number
}

export interface Groups {
  readonly groups: {
    /**
     * The groups of a queue that have jobs to run or settings of their own. Reads the first 1,000 groups by
     * name.
     */
    list(queue: string, options?: GroupListOptions): Promise<GroupRecord[]>
    /** One group, even without jobs. */
    get(queue: string, group: string): Promise<GroupRecord>
    /** Changes settings of one group, immediately in every process. A deploy does not undo it. */
    update(queue: string, group: string, change: GroupChange, how?: ByOption): Promise<GroupRecord>
    /** No job of the group starts until you resume it. Running jobs continue. */
    pause(queue: string, group: string, how?: ByOption): Promise<GroupRecord>
    resume(queue: string, group: string, how?: ByOption): Promise<GroupRecord>
  }
}

const SORTS = ['waiting', 'oldest', 'name'] as const
const CHANGE_KEYS = ['weight', 'concurrency', 'rate', 'per', 'paused']
const MOST_GROUPS = 1_000
const DEFAULT_LIMIT = 100

export function groupsApi({ opened, by: us }: StoreAccess): Groups {
  async function update(
    queue: string,
    group: string,
    change: GroupChange,
    how?: ByOption,
  ): Promise<GroupRecord> {
    const by = byOf(how, us)
    const patch = patchOf(change)
    checkKey(group, 'group')
    const store = await opened()
    await checkQueue(store, checkName(queue, 'queue'))
    return store.groups.change(queue, group, patch, by)
  }
  return {
    groups: {
      async list(queue, options = {}) {
        checkObjectKeys(options, 'options', ['sort', 'limit'])
        const { sort = 'waiting', limit = DEFAULT_LIMIT } = options
        checkOneOf(sort, 'options.sort', SORTS)
        checkWhole(limit, 'options.limit', { least: 1, most: MOST_GROUPS })
        const most = sort === 'waiting' ? limit : MOST_GROUPS
        const found = await (await opened()).groups.list(checkName(queue, 'queue'), { limit: most }, MAY_LAG)
        return found.toSorted(COMPARE[sort]).slice(0, limit)
      },
      async get(queue, group) {
        const names = [checkKey(group, 'group')]
        const [found] = await (await opened()).groups.list(checkName(queue, 'queue'), { limit: 1, names })
        return found as GroupRecord
      },
      update,
      pause: (queue, group, how) => update(queue, group, { paused: true }, how),
      resume: (queue, group, how) => update(queue, group, { paused: false }, how),
    },
  }
}

const byName = (a: GroupRecord, b: GroupRecord): number => (a.name < b.name ? -1 : 1)
const COMPARE = {
  waiting: (a: GroupRecord, b: GroupRecord) => b.waiting - a.waiting || byName(a, b),
  oldest: (a: GroupRecord, b: GroupRecord) => (b.oldestMs ?? -1) - (a.oldestMs ?? -1) || byName(a, b),
  name: byName,
} as const

/** A change in a queue without groups would have no effect. */
async function checkQueue(store: FullStore, name: string): Promise<void> {
  const queues = await store.queues.list()
  const queue = queues.find((one) => one.name === name)
  if (queue === undefined)
    throw queueUnknown(
      name,
      queues.map((one) => one.name),
    )
  if (hasGroups(queue)) return
  throw new JobmillError('OPTION_CONFLICT', 'does not share its workers between groups', {
    field: 'queue',
    value: quote(name),
    fix: `Declare queues: { ${JSON.stringify(name)}: { groups: { fair: true } } }, or a concurrency or a rate`,
  })
}

function patchOf(change: GroupChange): GroupPatch {
  checkObjectKeys(change, 'group', CHANGE_KEYS)
  const { concurrency, rate, ratePerMs } = groupLimits(change, 'group')
  const { paused } = change
  const patch = omitUndefined({
    weight: weightOf(change.weight),
    concurrency,
    rate,
    ratePerMs,
    paused: paused === undefined ? undefined : checkBoolean(paused, 'group.paused'),
  })
  if (Object.keys(patch).length > 0) return patch
  throw invalidValue('group', change, 'changes nothing', 'Pass a setting such as { weight: 2 }')
}

function weightOf(weight: number | null | undefined): number | null | undefined {
  if (weight === undefined || weight === null) return weight
  const { least, most } = BOUNDS.groupWeight
  if (typeof weight === 'number' && weight >= least && weight <= most) return weight
  const fix =
    weight === 0
      ? 'Pause the group instead, or pass a small weight such as 0.1'
      : 'Pass 2 for twice the share of another group, or 0.5 for half of it'
  throw invalidValue('group.weight', weight, `must be a number from ${least} to ${most}`, fix)
}

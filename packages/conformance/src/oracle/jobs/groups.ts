/** Groups: which jobs wait for their group, which have passed its limits, and fair claims. */
import {
  FIRST_TURN,
  type GroupListRequest,
  type GroupPatch,
  type GroupRecord,
  isChanged,
  queueUnknown,
  takeTurns,
} from 'jobmill/store'
import type { OracleGroup, OracleJob, OracleState } from '../state.ts'
import { isInGroup, leaveGroup } from './group-line.ts'
import { makeReady } from './moves.ts'

const NONE: OracleGroup = {
  weight: null,
  concurrency: null,
  rate: null,
  ratePerMs: null,
  paused: false,
  by: null,
  at: null,
  usedUntil: 0,
}

// Queue names have no spaces.
const keyOf = (queue: string, group: string): string => `${queue} ${group}`

/** The settings of a group in effect. */
function settingsOf(state: OracleState, queue: string, group: string) {
  const own = state.groups.get(keyOf(queue, group)) ?? NONE
  const {
    groupConcurrency = null,
    groupRate = null,
    groupRatePerMs = null,
  } = state.queues.get(queue)?.settings ?? {}
  return {
    weight: own.weight ?? 1,
    concurrency: own.concurrency ?? groupConcurrency,
    rate: own.rate ?? groupRate,
    ratePerMs: own.rate === null ? groupRatePerMs : own.ratePerMs,
    paused: own.paused,
  }
}

/** Whether a due job has to pass the limits of its group before it can be ready. */
export function needsGroup(state: OracleState, { id, queue, group }: OracleJob): boolean {
  if (group === null || state.passed.has(id)) return false
  const { groupFair, groupConcurrency, groupRate } = state.queues.get(queue)?.settings ?? {}
  if (groupFair !== true && (groupConcurrency ?? groupRate ?? null) === null) return false
  const { concurrency, rate, paused } = settingsOf(state, queue, group)
  return paused || concurrency !== null || rate !== null
}

/**
 * The jobs that may become ready now: of each group, as many as its limits allow, in the order of joining.
 */
export function promotable(state: OracleState): OracleJob[] {
  const free = new Map<string, number>()
  return state.groupQueue.flatMap((id) => {
    const job = state.jobs.get(id)
    if (job === undefined || job.group === null) return []
    const key = keyOf(job.queue, job.group)
    const left = free.get(key) ?? freeIn(state, job.queue, job.group)
    free.set(key, left - 1)
    return left > 0 ? [job] : []
  })
}

export function promote(state: OracleState, job: OracleJob): void {
  const { queue, group } = job
  if (group === null) return
  leaveGroup(state, job)
  state.passed.add(job.id)
  const { rate, ratePerMs } = settingsOf(state, queue, group)
  if (rate !== null && ratePerMs !== null) {
    const known = state.groups.get(keyOf(queue, group)) ?? NONE
    const from = Math.max(known.usedUntil, (state.now - ratePerMs) * 1_000)
    state.groups.set(keyOf(queue, group), {
      ...known,
      usedUntil: from + Math.ceil((ratePerMs * 1_000) / rate),
    })
  }
  makeReady(state, job)
}

function freeIn(state: OracleState, queue: string, group: string): number {
  const { concurrency, paused } = settingsOf(state, queue, group)
  if (paused) return 0
  const held = [...state.passed].filter((id) => {
    const job = state.jobs.get(id)
    return job?.queue === queue && job.group === group
  })
  const slots = concurrency === null ? Number.POSITIVE_INFINITY : concurrency - held.length
  return Math.min(slots, tokensOf(state, queue, group).free)
}

function tokensOf(state: OracleState, queue: string, group: string) {
  const { rate, ratePerMs } = settingsOf(state, queue, group)
  if (rate === null || ratePerMs === null) return { free: Number.POSITIVE_INFINITY, nextInMs: null }
  const used = Math.max(
    (state.groups.get(keyOf(queue, group)) ?? NONE).usedUntil,
    (state.now - ratePerMs) * 1_000,
  )
  const each = (ratePerMs * 1_000) / rate
  const nextInMs = Math.max(0, Math.ceil((used + each) / 1_000) - state.now)
  return { free: Math.floor((state.now * 1_000 - used) / each), nextInMs: nextInMs === 0 ? null : nextInMs }
}

/** When stage can promote a job: 0 for now, null if no group gets a token. */
export function groupsInMs(state: OracleState): number | null {
  if (promotable(state).length > 0) return 0
  const times = state.groupQueue.flatMap((id) => {
    const job = state.jobs.get(id)
    if (job === undefined || job.group === null) return []
    const { paused, concurrency } = settingsOf(state, job.queue, job.group)
    const held = [...state.passed].filter((one) => {
      const other = state.jobs.get(one)
      return other?.queue === job.queue && other.group === job.group
    }).length
    if (paused || (concurrency !== null && held >= concurrency)) return []
    return tokensOf(state, job.queue, job.group).nextInMs ?? []
  })
  return times.length === 0 ? null : Math.min(...times)
}

/** Takes the jobs of a fair queue, which are in claim order, group after group. */
export function inTurns(
  state: OracleState,
  queue: string,
  jobs: readonly OracleJob[],
  room: number,
): OracleJob[] {
  const names = [...new Set(jobs.map(({ group }) => group ?? ''))].toSorted()
  const WIDTH = 2 ** 31
  const rows = jobs
    .map((job) => ({
      job,
      priority: job.priority,
      seq:
        job.group === null ? job.seq : (names.indexOf(job.group) - names.length) * WIDTH + (job.seq % WIDTH),
    }))
    .toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)
  const { rows: taken, turn } = takeTurns(room, state.turns.get(queue) ?? FIRST_TURN, {
    from: (place, limit) =>
      rows
        .filter(
          (row) =>
            place === null ||
            row.priority > place.priority ||
            (row.priority === place.priority && row.seq >= place.seq),
        )
        .slice(0, limit),
    bounds: ({ seq }) =>
      seq >= 0
        ? [0, Number.POSITIVE_INFINITY]
        : [Math.floor(seq / WIDTH) * WIDTH, (Math.floor(seq / WIDTH) + 1) * WIDTH],
    weight(start) {
      const name = names[start / WIDTH + names.length]
      return name === undefined || start >= 0 ? 1 : settingsOf(state, queue, name).weight
    },
  })
  state.turns.set(queue, turn)
  return taken.map(({ job }) => job)
}

export function changeGroup(
  state: OracleState,
  queue: string,
  group: string,
  patch: GroupPatch,
  by?: string,
): GroupRecord {
  if (!state.queues.has(queue)) throw queueUnknown(queue)
  const key = keyOf(queue, group)
  const changed = { ...(state.groups.get(key) ?? NONE), ...patch }
  const isSet = isChanged(changed)
  state.groups.set(key, { ...changed, by: isSet ? (by ?? null) : null, at: isSet ? state.now : null })
  const { paused, concurrency, rate } = changed
  // The ready jobs of a fair queue wait in the group from now on.
  if (
    state.queues.get(queue)?.settings.groupFair === true &&
    (paused || concurrency !== null || rate !== null)
  ) {
    const ready = [...state.jobs.values()].filter(
      (job) =>
        job.queue === queue && job.group === group && job.state === 'ready' && !state.passed.has(job.id),
    )
    for (const job of ready.toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)) {
      job.state = 'scheduled'
      job.dueAt = job.readyAt
      state.groupQueue.push(job.id)
    }
  }
  return recordOf(state, queue, group)
}

export function listGroups(
  state: OracleState,
  queue: string,
  { limit, names }: GroupListRequest,
): GroupRecord[] {
  if (!state.queues.has(queue)) throw queueUnknown(queue)
  const own = [...state.jobs.values()].filter((job) => job.queue === queue && job.endedAt === null)
  const found = new Set([
    ...own.flatMap(({ group }) => group ?? []),
    ...[...state.groups.keys()].flatMap((key) =>
      key.startsWith(`${queue} `) ? [key.slice(queue.length + 1)] : [],
    ),
  ])
  return [...new Set(names ?? found)]
    .map((name) => recordOf(state, queue, name))
    .filter(
      ({ waiting, running, overrides }) => names !== undefined || waiting + running > 0 || overrides !== null,
    )
    .toSorted((a, b) => b.waiting - a.waiting || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
}

function recordOf(state: OracleState, queue: string, name: string): GroupRecord {
  const own = state.groups.get(keyOf(queue, name)) ?? NONE
  const isFair = state.queues.get(queue)?.settings.groupFair === true
  const jobs = [...state.jobs.values()].filter((job) => job.queue === queue && job.group === name)
  const held = jobs.filter((job) => isInGroup(state, job))
  const ready = jobs.filter((job) => job.state === 'ready' && (isFair || state.passed.has(job.id)))
  const since = [...held.map(({ dueAt }) => dueAt), ...(isFair ? ready.map(({ readyAt }) => readyAt) : [])]
  const { weight, concurrency, rate, ratePerMs, paused, by, at } = own
  return {
    name,
    ...settingsOf(state, queue, name),
    waiting: held.length + ready.length,
    running: jobs.filter((job) => job.state === 'running').length,
    oldestMs: since.length === 0 ? null : state.now - Math.min(...since),
    nextTokenMs: tokensOf(state, queue, name).nextInMs,
    overrides: at === null ? null : { weight, concurrency, rate, ratePerMs, paused, by, at },
  }
}

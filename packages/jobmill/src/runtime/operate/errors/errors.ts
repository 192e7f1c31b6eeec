/** `mill.errors()`: dead and retrying jobs, grouped by error fingerprint. */
import { fingerprintOf, literalsOf } from '../../../job/grouping/fingerprint.ts'
import { foldKeys } from '../../../job/grouping/fold.ts'
import { frameIn } from '../../../job/grouping/frame.ts'
import { checkOneOf } from '../../../job/numbers.ts'
import { checkObjectKeys } from '../../../job/options/known-keys.ts'
import { MAY_LAG } from '../../../store/types/job-list.ts'
import type { VersionRecord } from '../../../store/types/instance.ts'
import type { JobFailure, JobSummary } from '../../../store/types/job-record.ts'
import { checkSought } from '../../../store/payload-at.ts'
import type { StoreAccess } from '../../store-access.ts'
import { checkFingerprint, type Fingerprints } from './fingerprint-filter.ts'
import { foldErrors, type Gathered } from './fold-errors.ts'
import { splitFilter } from '../list-filter.ts'
import { coversBefore, failuresBefore, scanFailures } from './scan-failures.ts'

interface ErrorsQuery {
  readonly queue?: string | readonly string[]
  readonly kind?: string | readonly string[]
  /** Only failures that happened at or after `failedFrom`, and before `failedBefore`. */
  readonly failedFrom?: number
  readonly failedBefore?: number
  /** Only groups with an error that contains this text, whatever its case. */
  readonly text?: string
  /** Largest (`jobs`, the default), last seen, or first seen most recently. */
  readonly sort?: ErrorSort
  /** Only groups with this fingerprint. Those of a folded group are listed one by one. */
  readonly fingerprint?: string
}

export const ERROR_SORTS = ['jobs', 'lastAt', 'firstAt'] as const
export type ErrorSort = (typeof ERROR_SORTS)[number]

/** Jobs of one kind whose errors have the same words and codes. */
export interface ErrorGroup extends ErrorVersions {
  /** Identifies the kind, and the words and codes of the shape. `bulk` accepts it as a filter. */
  readonly fingerprint: string
  readonly kind: string
  /**
   * The message of the latest error in one line, with variable parts replaced: `<n>`, `<id>`, `<text>`,
   * `<email>`, `<url>`, `<path>`, `<host>`, `<date>` and `<name>`.
   */
  readonly shape: string
  /**
   * The longest part of the shape that all of the scanned errors contain, for a search with `errorText`.
   * Empty if there is none.
   */
  readonly text: string
  readonly dead: number
  /** Scheduled or ready jobs whose last attempt failed. */
  readonly failing: number
  /**
   * When the earliest and the latest of these failures happened. The first attempt of a job that failed with
   * this error counts too, so a retry does not change `firstAt`.
   */
  readonly firstAt: number
  readonly lastAt: number
  /** Sorted by name. */
  readonly queues: readonly string[]
  /** The function and file of the application that threw the latest error, if its stack names one. */
  readonly frame: string | null
  /**
   * How many groups this one combines, or 0. More than 20 groups of a kind are folded into one if their
   * errors share the class, and the start of the message or the frame.
   */
  readonly folded: number
  /** The most recent failure. */
  readonly example: { readonly id: string; readonly error: string }
  /** Failures over time: 24 buckets, the same for all groups. */
  readonly over: readonly { readonly at: number; readonly jobs: number }[]
}

export interface ErrorReport {
  /** The first 200 in the order of `sort`. */
  readonly groups: readonly ErrorGroup[]
  /** The number of groups, including those that are not listed. */
  readonly total: number
  /** The number of failed jobs that were read. */
  readonly looked: number
  /** False when there are more jobs than were read. */
  readonly complete: boolean
  /** The start of the first bucket. Null without groups. */
  readonly from: number | null
  readonly bucketMs: number
}

export interface Errors {
  /** Covers the newest 2,000 dead jobs, and the first 2,000 scheduled and 1,000 ready jobs that failed. */
  errors(query?: ErrorsQuery): Promise<ErrorReport>
}

const MOST_GROUPS = 200
const BUCKETS = 24
const MOST_DEPLOYS = 3
const EXAMPLE_CHARS = 2_000

export function errors({ opened }: StoreAccess): Errors {
  return {
    async errors(given = {}) {
      checkObjectKeys(given, 'query', [
        'queue',
        'kind',
        'failedFrom',
        'failedBefore',
        'text',
        'sort',
        'fingerprint',
      ])
      const { text, sort = 'jobs', fingerprint, ...query } = given
      splitFilter(query)
      const asked: Asked = {
        text: text === undefined ? '' : checkSought(text, 'query.text').toLowerCase(),
        sort: checkOneOf(sort, 'query.sort', ERROR_SORTS),
        only: fingerprint === undefined ? null : checkFingerprint(fingerprint, 'query.fingerprint'),
      }
      const store = await opened()
      const groups = new Map<string, Gathered>()
      const [known, scan] = await Promise.all([
        store.inspect.versions(MAY_LAG),
        scanFailures(store, query, (job, failure) => gather(groups, job, failure, asked)),
      ])
      // A large incident can fill the scan, and a time range leaves out older failures. To know whether the
      // errors are older than a deploy, also read failures from before each deploy.
      const { failedFrom, failedBefore: _, ...subject } = query
      const deploys = scan.complete && failedFrom === undefined ? [] : known.slice(0, MOST_DEPLOYS)
      for (const { firstAt } of deploys)
        if (failedFrom !== undefined || !coversBefore(scan, firstAt))
          for (const [job, failure] of await failuresBefore(store, subject, firstAt))
            noteVersion(groups, job, failure)
      const listed = asked.only === null ? foldErrors([...groups.values()]) : [...groups.values()]
      return report(
        listed.filter(({ matches }) => matches),
        asked.sort,
        { looked: scan.failed, complete: scan.complete, known },
      )
    },
  }
}

interface Asked {
  /** In lower case. */
  readonly text: string
  readonly sort: ErrorSort
  readonly only: Fingerprints | null
}

/** Counts the version of an older failure if the group is known and was not seen on this version. */
function noteVersion(groups: Map<string, Gathered>, { kind }: JobSummary, failure: JobFailure): void {
  const versions = groups.get(fingerprintOf(kind, failure.error).fingerprint)?.versions
  if (versions?.has(failure.version) === false) versions.set(failure.version, 1)
}

function gather(
  groups: Map<string, Gathered>,
  job: JobSummary,
  failure: JobFailure,
  { text, only }: Pick<Asked, 'text' | 'only'>,
): void {
  const { kind, id } = job
  const { fingerprint, shape } = fingerprintOf(kind, failure.error)
  const { at } = failure
  const frame = frameIn(failure.logEnd)
  const keys = foldKeys(kind, shape, frame)
  if (only !== null && ![fingerprint, ...keys].some((key) => only.has(key))) return
  const error = failure.error ?? ''
  const example = { id, error: error.slice(0, EXAMPLE_CHARS).toWellFormed() }
  const group: Gathered = groups.get(fingerprint) ?? {
    fingerprint,
    kind,
    shape,
    literals: literalsOf(shape, error),
    queues: new Set(),
    at: [],
    versions: new Map<string | null, number>(),
    dead: 0,
    firstAt: at,
    lastAt: at,
    frame,
    example,
    keys: new Map(),
    matches: false,
    folded: 0,
  }
  groups.set(fingerprint, group)
  group.literals = group.literals.filter((part) => error.includes(part))
  group.queues.add(job.queue)
  group.at.push(at)
  group.versions.set(failure.version, (group.versions.get(failure.version) ?? 0) + 1)
  for (const key of keys) group.keys.set(key, (group.keys.get(key) ?? 0) + 1)
  group.firstAt = Math.min(group.firstAt, firstWith(fingerprint, kind, failure))
  group.matches ||= text === '' || error.toLowerCase().includes(text)
  if (job.state === 'dead') group.dead += 1
  if (at <= group.lastAt) return
  group.lastAt = at
  group.shape = shape
  group.frame = frame
  group.example = example
}

interface Scan extends Pick<ErrorReport, 'looked' | 'complete'> {
  readonly known: readonly VersionRecord[]
}

/** When the job first failed with this error, as far as its history and a bounded read tell. */
function firstWith(fingerprint: string, kind: string, { at, error, first }: JobFailure): number {
  if (first === null) return at
  const isSame = first.error === error || fingerprintOf(kind, first.error).fingerprint === fingerprint
  return isSame ? first.at : at
}

const ORDER: Readonly<Record<ErrorSort, (a: Gathered, b: Gathered) => number>> = {
  jobs: (a, b) => b.at.length - a.at.length || b.lastAt - a.lastAt,
  lastAt: (a, b) => b.lastAt - a.lastAt || b.at.length - a.at.length,
  firstAt: (a, b) => b.firstAt - a.firstAt || b.at.length - a.at.length,
}

function report(groups: readonly Gathered[], sort: ErrorSort, { known, ...scan }: Scan): ErrorReport {
  const order = ORDER[sort]
  const most = groups
    .toSorted((a, b) => order(a, b) || (a.fingerprint < b.fingerprint ? -1 : 1))
    .slice(0, MOST_GROUPS)
  const times = most.flatMap(({ at }) => at)
  const from = times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b))
  const last = most.reduce((latest, { lastAt }) => Math.max(latest, lastAt), from ?? 0)
  const bucketMs = from === null ? 0 : Math.ceil((last - from + 1) / BUCKETS)
  return {
    groups: most.map((group) => ({
      ...groupView(group, from ?? 0, bucketMs),
      ...versionsOfErrors(group.versions, known),
    })),
    total: groups.length,
    ...scan,
    from,
    bucketMs,
  }
}

function groupView(group: Gathered, from: number, bucketMs: number): Omit<ErrorGroup, keyof ErrorVersions> {
  const { at, queues, dead, literals, versions: _, keys: _keys, matches: _matches, ...rest } = group
  const over = Array.from({ length: BUCKETS }, (_, n) => ({ at: from + n * bucketMs, jobs: 0 }))
  for (const one of at) {
    const bucket = over[Math.floor((one - from) / bucketMs)]
    if (bucket !== undefined) bucket.jobs += 1
  }
  return {
    ...rest,
    text: literals[0] ?? '',
    dead,
    failing: at.length - dead,
    queues: [...queues].toSorted(),
    over,
  }
}

/** The versions of the application on which the errors of a group happened. */
interface ErrorVersions {
  /**
   * How many of the scanned failures ran on each version, latest version first. Null: the version is unknown.
   * If the error is new in a version, the list ends with the version before it, with 0 jobs.
   */
  readonly versions: readonly { readonly version: string | null; readonly jobs: number }[]
  /** The version in which this error is new: no scanned failure ran on an earlier one. Null if unknown. */
  readonly newIn: string | null
}

/** `known` are the versions of the mill, latest first. */
function versionsOfErrors(
  failures: ReadonlyMap<string | null, number>,
  known: readonly VersionRecord[],
): ErrorVersions {
  const order = known.map(({ version }) => version)
  const placeOf = (version: string | null): number => {
    const place = version === null ? -1 : order.indexOf(version)
    return place === -1 ? order.length : place
  }
  const versions = [...failures]
    .map(([version, jobs]) => ({ version, jobs }))
    .toSorted((a, b) => placeOf(a.version) - placeOf(b.version))
  const first = Math.max(...versions.map(({ version }) => placeOf(version)))
  const [newIn, before] = [order[first], order[first + 1]]
  if (newIn === undefined || before === undefined) return { versions, newIn: null }
  return { versions: [...versions, { version: before, jobs: 0 }], newIn }
}

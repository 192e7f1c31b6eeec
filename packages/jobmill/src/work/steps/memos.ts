/** The steps that a job has recorded, as one attempt knows them. */
import { BOUNDS } from '../../job/defaults.ts'
import type { Lease } from '../../store/types/claim.ts'
import type { Memo, StepKind } from '../../store/types/step.ts'
import { nameReused, otherKind, tooManyBytes, tooManySteps } from './step-errors.ts'

/** A step that this attempt has called. */
export interface CalledStep {
  readonly name: string
  readonly place: number
  /** What earlier attempts stored. */
  readonly memo: Memo | undefined
}

export type Memos = ReturnType<typeof memosOf>

export function memosOf(lease: Lease, stored: readonly Memo[]) {
  const byName = new Map(stored.map((memo) => [memo.name, memo]))
  const called = new Set<string>()
  let places = stored.reduce((most, { place }) => Math.max(most, place + 1), 0)
  let steps = stored.length
  let chars = stored.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
  return {
    called,
    /** Reserves the name of a step for this call. */
    call(name: string, kind: StepKind): CalledStep {
      if (called.has(name)) throw nameReused(name)
      const memo = byName.get(name)
      if (memo !== undefined && kindsDiffer(memo, kind)) throw otherKind(name, memo.kind, kind)
      if (memo === undefined && steps >= BOUNDS.steps) throw tooManySteps(lease)
      called.add(name)
      if (memo !== undefined) return { name, place: memo.place, memo }
      steps += 1
      places += 1
      return { name, place: places - 1, memo: undefined }
    },
    /** Allows another call with this name. */
    release(name: string): void {
      called.delete(name)
    },
    /** Checks that a result fits, and counts it. */
    add(result: string | null): void {
      chars += result?.length ?? 0
      if (chars > BOUNDS.stepsBytes) throw tooManyBytes(lease)
    },
    /** Counts an event without a check: it is already recorded, and the next attempt would receive it. */
    count(event: string | null): void {
      chars += event?.length ?? 0
    },
  }
}

const WITH_RESULT: readonly StepKind[] = ['run', 'transaction', 'child']

/** New code may replace a step with one of another kind if both have a result. */
function kindsDiffer({ kind: was, isDone }: Memo, is: StepKind): boolean {
  const isAlike = WITH_RESULT.includes(was) && WITH_RESULT.includes(is)
  const needsChildren = !isDone && (was === 'child') !== (is === 'child')
  return was !== is && (!isAlike || needsChildren)
}

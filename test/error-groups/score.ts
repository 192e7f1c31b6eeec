/**
 * How well errors are grouped, counted in pairs of errors of one kind. Precision: how many of the pairs in
 * one found group belong together. Recall: how many of the pairs that belong together are in one found group.
 */

export interface ExpectedGroup {
  readonly group: string
  readonly kind: string
  readonly errors: readonly SampleError[]
}

interface SampleError {
  readonly name: string
  readonly message: string
  /** With or without the message in its first lines. */
  readonly stack?: string
}

interface Sample {
  readonly kind: string
  /** The group that an operator expects. */
  readonly group: string
  readonly error: SampleError
}

/** Two groups that were found as one, or one that was found as several. */
export interface Mistake {
  readonly kind: string
  readonly groups: readonly string[]
  readonly pairs: number
}

export interface Score {
  readonly errors: number
  readonly groups: number
  readonly precision: number
  readonly recall: number
  /** Most pairs first. */
  readonly merged: readonly Mistake[]
  readonly split: readonly Mistake[]
}

export function samplesOf(corpus: readonly ExpectedGroup[]): Sample[] {
  return corpus.flatMap(({ kind, group, errors }) => errors.map((error) => ({ kind, group, error })))
}

/** `found` has the key of the group that was found for each sample. */
export function scoreOf(samples: readonly Sample[], found: readonly string[]): Score {
  let [expectedPairs, foundPairs, both] = [0, 0, 0]
  const merged = new Map<string, Mistake>()
  const split = new Map<string, Mistake>()
  for (const [at, one] of samples.entries())
    for (let other = at + 1; other < samples.length; other += 1) {
      const next = samples[other]
      if (next === undefined || next.kind !== one.kind) continue
      const belongs = next.group === one.group
      const isTogether = found[at] === found[other]
      if (belongs) expectedPairs += 1
      if (isTogether) foundPairs += 1
      if (belongs && isTogether) both += 1
      else if (isTogether) count(merged, one.kind, [one.group, next.group])
      else if (belongs) count(split, one.kind, [one.group])
    }
  return {
    errors: samples.length,
    groups: new Set(samples.map(({ kind, group }) => `${kind}\n${group}`)).size,
    precision: both / foundPairs,
    recall: both / expectedPairs,
    merged: sorted(merged),
    split: sorted(split),
  }
}

function count(mistakes: Map<string, Mistake>, kind: string, names: readonly string[]): void {
  const groups = names.toSorted()
  const key = JSON.stringify([kind, groups])
  mistakes.set(key, { kind, groups, pairs: (mistakes.get(key)?.pairs ?? 0) + 1 })
}

function sorted(mistakes: ReadonlyMap<string, Mistake>): Mistake[] {
  return [...mistakes.values()].toSorted((a, b) => b.pairs - a.pairs)
}

/**
 * Scores the grouping rules on two parts: the corpus with its variations, which the rules were written for,
 * and the hold-out. Authors of rules must not read the messages or the mistakes of the hold-out.
 */
import { readFileSync } from 'node:fs'
import { fingerprintOf } from '../../packages/jobmill/src/job/grouping/fingerprint.ts'
import { type ExpectedGroup, type Mistake, samplesOf, type Score, scoreOf } from './score.ts'

/** The least precision and recall of each part. */
export const TARGET = 0.95

export interface PartScore extends Pick<Score, 'errors' | 'groups' | 'precision' | 'recall'> {
  readonly part: string
  /** The largest first. Empty for the hold-out. */
  readonly mistakes: readonly string[]
}

export function scoreParts(): PartScore[] {
  // A variation has other groups than the corpus for the same kind, so no pair spans the two files.
  const variations = groupsIn('variations').map((one) => ({ ...one, kind: `${one.kind} (variations)` }))
  const { merged, split, ...known } = scored([...groupsIn('corpus'), ...variations])
  const { merged: _merged, split: _split, ...unknown } = scored(groupsIn('holdout'))
  return [
    { part: 'corpus', ...known, mistakes: [...merged.map(textOf('merged')), ...split.map(textOf('split'))] },
    { part: 'hold-out', ...unknown, mistakes: [] },
  ]
}

export function isGood({ precision, recall }: Pick<PartScore, 'precision' | 'recall'>): boolean {
  return precision >= TARGET && recall >= TARGET
}

function groupsIn(file: string): ExpectedGroup[] {
  const text = readFileSync(new URL(`${file}.json`, import.meta.url), 'utf8')
  return JSON.parse(text) as ExpectedGroup[]
}

function scored(groups: readonly ExpectedGroup[]): Score {
  const samples = samplesOf(groups)
  const found = samples.map(
    ({ kind, error: { name, message } }) => fingerprintOf(kind, `${name}: ${message}`).fingerprint,
  )
  return scoreOf(samples, found)
}

function textOf(how: 'merged' | 'split'): (mistake: Mistake) => string {
  return ({ kind, groups, pairs }) => `${how}: ${groups.join(' + ')} of ${kind} (${pairs} pairs)`
}

/** The verdict for one store: how flat each metric was, and violations in sentences. */
import { FIGURE_NAMES, FIGURES, type Figure, type Sample, shownFigure } from './figures.ts'
import { type Flatness, flatness } from './flatness.ts'
import type { Report } from '../messages.ts'
import type { StoreName } from '../options.ts'

export interface Facts {
  readonly store: StoreName
  readonly minutes: number
  readonly samples: readonly Sample[]
  readonly visits: number
  readonly end: Omit<Extract<Report, { is: 'end' }>, 'is'> & { readonly exited: boolean }
}

export interface Verdict extends Facts {
  readonly flatness: Readonly<Record<Figure, Flatness>>
  readonly broken: readonly string[]
}

export function judge(facts: Facts): Verdict {
  const all = Object.fromEntries(
    FIGURE_NAMES.map((figure) => [figure, flatnessOf(figure, facts.samples)]),
  ) as Record<Figure, Flatness>
  return { ...facts, flatness: all, broken: [...growing(all), ...uneven(facts)] }
}

function flatnessOf(figure: Figure, samples: readonly Sample[]): Flatness {
  return flatness(
    samples.map((sample) => ({ atMs: sample.atMs, value: sample[figure] })),
    FIGURES[figure],
  )
}

function growing(all: Readonly<Record<Figure, Flatness>>): string[] {
  return FIGURE_NAMES.flatMap((figure) => {
    const { isFlat, grown, level } = all[figure]
    if (isFlat) return []
    const [by, from] = [shownFigure(figure, grown), shownFigure(figure, level)]
    return [`leak: ${FIGURES[figure].what} grew by ${by} from ${from} in the second half.`]
  })
}

function uneven({ end }: Facts): string[] {
  const { counts, open } = end.progress
  const ended = counts.done + counts.dead + counts.cancelled
  return [
    ...(counts.lost > 0 ? [`lost: ${counts.lost} acknowledged jobs are not in the store.`] : []),
    ...(open > 0 ? [`not ended: ${open} acknowledged jobs.`] : []),
    ...(counts.acknowledged !== ended + open + counts.lost
      ? [`counts: ${counts.acknowledged} acknowledged, and ${ended} ended.`]
      : []),
    ...(end.waiting > 0 ? [`not ended: the store counts ${end.waiting} jobs that wait or run.`] : []),
    ...(end.exited ? [] : ['leak: the process did not exit on its own after the mill was stopped.']),
    ...end.broken,
  ]
}

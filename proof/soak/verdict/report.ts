/** The verdict as text, and as a table for the docs. */
import { FIGURE_NAMES, FIGURES, shownFigure } from './figures.ts'
import type { Verdict } from './verdict.ts'

export function report({ store, minutes, samples, flatness, end, visits, broken }: Verdict): string {
  const { counts, refused, unknown } = end.progress
  const rows = FIGURE_NAMES.map((figure) => {
    const { level, grown, share, isFlat } = flatness[figure]
    const sign = grown < 0 ? '' : '+'
    const change = `${sign}${shownFigure(figure, grown)} (${sign}${(100 * share).toFixed(1)}%)`
    return `  ${FIGURES[figure].what.padEnd(32)} ${shownFigure(figure, level).padStart(10)}  ${change.padStart(22)}  ${isFlat ? 'flat' : 'GROWS'}`
  })
  return [
    '',
    `${store}, ${minutes} min, ${samples.length} samples: at half-time, and the change from there to the end`,
    ...rows,
    `  acknowledged ${count(counts.acknowledged)}: done ${count(counts.done)}, dead ${count(counts.dead)}, cancelled ${count(counts.cancelled)}, lost ${count(counts.lost)}`,
    `  refused ${count(refused)}, unknown ${count(unknown)}, ticks ${count(end.ticks)}, visits of a second process ${count(visits)}`,
    `  load ${ratesOf(samples).join(' and then ')} jobs a second in the two quarters after half-time`,
    ...(broken.length === 0
      ? ['  flat, and every acknowledged job has ended.']
      : broken.map((one) => `  ${one}`)),
  ].join('\n')
}

function count(number: number): string {
  return number.toLocaleString('en')
}

/** The load depends on the machine. If it rises, so do rows and jobs in flight, and the run says little. */
function ratesOf(samples: Verdict['samples']): string[] {
  const at = (part: number): Verdict['samples'][number] | undefined =>
    samples[Math.round(part * (samples.length - 1))]
  return [0.5, 0.75].map((part) => {
    const [from, to] = [at(part), at(part + 0.25)]
    if (from === undefined || to === undefined) return 'no'
    return ((1_000 * (to.acknowledged - from.acknowledged)) / (to.atMs - from.atMs)).toFixed(1)
  })
}

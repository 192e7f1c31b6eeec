/** The verdict as text. */
import { type Figures, RECOVERY_LIMIT_MS, type Verdict } from './judge.ts'

export function report({ figures, broken }: Verdict, events: ReadonlyMap<string, number>): string {
  const lines = rows(figures, events).map(([what, figure]) => `${what.padEnd(28)} ${figure}`)
  const end =
    broken.length === 0
      ? ['All guarantees held.']
      : [
          `${broken.length === 1 ? 'A guarantee was' : `${broken.length} guarantees were`} violated:`,
          ...broken,
        ]
  return ['', ...lines, '', ...end].join('\n')
}

function rows(figures: Figures, events: ReadonlyMap<string, number>): [what: string, figure: string][] {
  const { answers, repeats, unknownWritten } = figures
  const unknown = answers.unknown + answers.open
  return [
    ['enqueued', `${count(answers.acknowledged)} acknowledged of ${count(figures.sent)} sent`],
    ['refused', `${count(answers.refused)} while the database was away`],
    ['unknown', `${count(unknown)}${unknown === 0 ? '' : `, of them ${count(unknownWritten)} written`}`],
    ['done', count(figures.done)],
    ['dead', count(figures.dead)],
    ['lost', count(figures.lost)],
    ['runs', `${count(figures.runs)}, of them ${count(repeats.planned)} planned retries`],
    [
      'repeated after a crash',
      `${count(repeats['process died'] + repeats['lease lost'] + repeats['stood still'])}: ` +
        `${count(repeats['process died'])} with the killed process, ` +
        `${count(repeats['lease lost'])} whose lease was lost with the database`,
    ],
    ['run twice without a crash', count(figures.twice)],
    ['order broken', `${count(figures.outOfOrder)} of ${count(figures.withOrderKey)} jobs with an order key`],
    ['recovery after kill -9', afterDeaths(figures.afterDeaths)],
    ['recovery after the database', figures.afterOutages.map(seconds).join(', ') || 'nothing to recover'],
    ['from sent to started', waited(figures.waits)],
    ['lifecycle events', eventsText(events)],
  ]
}

function afterDeaths(times: readonly (number | null)[]): string {
  const known = times.filter((time) => time !== null).toSorted((a, b) => a - b)
  const [first] = known
  if (first === undefined) return times.length === 0 ? 'nothing to recover' : 'never'
  const jobs = `${count(times.length)} ${times.length === 1 ? 'job' : 'jobs'}`
  return `${seconds(first)} to ${seconds(known.at(-1) ?? first)} for ${jobs} (at most ${seconds(RECOVERY_LIMIT_MS)})`
}

function waited(times: readonly number[]): string {
  const median = times[Math.floor(times.length / 2)]
  return median === undefined
    ? 'nothing started'
    : `median ${median.toFixed(1)} ms, longest ${seconds(times.at(-1) ?? median)}`
}

/** Other unusual lifecycle events. */
function eventsText(events: ReadonlyMap<string, number>): string {
  const types = ['reaped', 'leases-found', 'lease-lost', 'instance-lost', 'store-failing', 'store-back']
  return types.map((type) => `${type} ${count(events.get(type) ?? 0)}`).join(', ')
}

function count(number: number): string {
  return number.toLocaleString('en')
}

function seconds(ms: number | null): string {
  return ms === null ? 'never' : `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`
}

// Writes the report as Markdown: targets first, then every figure by case, then machine, systems and servers.
import type { Target } from './targets.ts'
import type { Summary } from './figures.ts'
import type { Remark, Report } from './report.ts'
import { placeOf, titleOf } from './titles.ts'

export function toMarkdown(report: Report): string {
  const { machine, minutes, quick, payloadBytes } = report
  const parts = [
    '# Benchmark',
    `${report.startedAt.slice(0, 10)}, ${quick ? 'a quick run' : 'a full run'} of ${minutes.toFixed(1)} minutes on ` +
      `${machine.cores} cores of ${machine.processor}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}. ` +
      `Client and server share these cores. A synced write of 8 kB takes ${machine.syncUs} µs. ` +
      `Load of the machine before ${machine.loadBefore}, after ${machine.loadAfter}; ` +
      `unrelated processes used ${machine.noise} cores during the run.` +
      (payloadBytes === undefined ? '' : ` Payloads have ${numberText(payloadBytes)} bytes.`),
    'All figures are medians, with the minimum, the maximum and the number of rounds in parentheses; the systems of a case took turns.',
    '## Targets',
    targetTable(report.targets),
    '## Figures',
    ...figureTables(report.figures),
    ...remarks('## Failed', report.failures),
    ...remarks('## Notes', report.notes),
    '## Systems',
    table(
      ['system', 'store', 'setting', 'version', 'settings', 'keeps and guarantees'],
      report.systems.map((one) => [one.system, one.store, one.setting, one.version, one.settings, one.keeps]),
    ),
    '## Servers',
    table(
      ['server', 'version', 'settings'],
      report.servers.map((one) => [one.name, one.version, one.settings]),
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

function targetTable(targets: readonly Target[]): string {
  return table(
    ['case', 'store', 'against', 'ratio', 'target', 'goal', ''],
    targets.map((target) => [
      target.case,
      target.store,
      target.against,
      numberText(target.ratio),
      `${sign(target)} ${target.target}`,
      target.goal === null ? '' : `${sign(target)} ${target.goal}`,
      verdict(target),
    ]),
  )
}

const sign = ({ way }: Target): string => (way === 'at least' ? '≥' : '≤')

function verdict({ ratio, target, goal, way, met }: Target): string {
  const isBetter = (than: number): boolean => (way === 'at least' ? ratio >= than : ratio <= than)
  if (!met) return `**missed by ${Math.abs((ratio / target - 1) * 100).toFixed(0)}%**`
  return goal !== null && isBetter(goal) ? 'met, and the goal' : 'met'
}

/** One table per case, with a row per system and a column per figure. */
function figureTables(figures: readonly Summary[]): string[] {
  const families = Map.groupBy(figures, (one) => placeOf(one.case).family)
  return [...families].map(([family, group]) => {
    const columns = [...Map.groupBy(group, columnOf).keys()]
    const systems = [...Map.groupBy(group, (one) => `${one.system}, ${one.setting} | ${one.store}`)]
    const rows = systems
      .toSorted(([, a], [, b]) => byFirst(a[0], b[0]))
      .map(([name, own]) => [
        ...name.split(' | '),
        numberText(own[0]?.jobs ?? 0),
        ...columns.map((column) => cellText(own.find((one) => columnOf(one) === column))),
      ])
    return `### ${family}: ${titleOf(family)}\n\n${table(['system', 'store', 'jobs', ...columns], rows)}`
  })
}

/** The same figure may have another unit on another store. */
function columnOf({ case: name, unit }: Summary): string {
  const { part } = placeOf(name)
  return part === '' ? unit : `${part}, ${unit}`
}

/** Best first: the highest rate, or the lowest value of any other unit. */
function byFirst(a: Summary | undefined, b: Summary | undefined): number {
  const difference = (a?.median ?? 0) - (b?.median ?? 0)
  return a?.unit === 'jobs/s' || a?.unit === 'steps/s' ? -difference : difference
}

function cellText(figure: Summary | undefined): string {
  if (figure === undefined) return ''
  const { case: name, median, min, max, values } = figure
  if (placeOf(name).part !== '') return numberText(median)
  if (values.length === 1) return `**${numberText(median)}** (one round)`
  return `**${numberText(median)}** (${numberText(min)}–${numberText(max)}, ${values.length})`
}

function remarks(title: string, list: readonly Remark[]): string[] {
  if (list.length === 0) return []
  const lines = list.map(
    ({ case: name, store, system, setting, text }) => `- ${name}, ${system} (${store}, ${setting}): ${text}`,
  )
  return [title, [...new Set(lines)].join('\n')]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), `|${head.map(() => '---|').join('')}`, ...rows.map(row)].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

/** Three significant digits: 32,300 and 0.0123. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  const least = value === 0 || Number.isInteger(value) ? 0 : Math.min(digits, 4)
  return value.toLocaleString('en', { maximumFractionDigits: least })
}

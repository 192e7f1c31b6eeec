/** `jobmill db doctor`: reports problems of the database and of its queues, with a fix for each. */
import { durationMs } from '../../job/duration.ts'
import { diagnoseMill } from '../../runtime/diagnose/diagnostics.ts'
import { resolveOptions } from '../../runtime/options/options.ts'
import type { Diagnostic } from '../../store/admin/admin.ts'
import { isCurrent } from '../../store/admin/schema-status.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { print } from '../output/print.ts'
import type { Style, Terminal } from '../output/terminal.ts'
import { lengthOf } from '../program/typed-values.ts'
import { waitingFor } from '../output/progress.ts'
import { optionsFor, toolsOf, withMill } from '../with-mill.ts'
import { countText } from '../output/wording.ts'

export const dbDoctor: Command = {
  words: 'db doctor',
  says: 'diagnose the database and suggest fixes; read-only (exits with 1 on an error)',
  options: {
    'open-for': { takes: 'DURATION', says: 'report transactions open for longer than this (default 5m)' },
  },
  examples: [
    'jobmill db doctor',
    'jobmill db doctor --db postgres://app@localhost/app --open-for 30s --json',
  ],
  async run(parsed, terminal) {
    const diagnostics = bySeverity(await waitingFor('the database', diagnose(parsed), terminal))
    const [errors, warnings] = [countOf(diagnostics, 'error'), countOf(diagnostics, 'warning')]
    const notices = countOf(diagnostics, 'notice')
    const text = [
      ...diagnosticLines(diagnostics, terminal),
      `${countText(errors, 'error')}, ${countText(warnings, 'warning')}${notices === 0 ? '' : `, ${countText(notices, 'notice')}`}`,
    ]
    const code = errors > 0 ? EXIT.failed : EXIT.done
    return print(parsed, terminal, { json: { errors, warnings, notices, diagnostics }, text, code })
  },
}

/** Opening a mill migrates the database, so the mill is diagnosed only when no migration is pending. */
async function diagnose(parsed: ParsedArguments): Promise<Diagnostic[]> {
  const options = await optionsFor(parsed)
  const tools = toolsOf(options.store)
  const openFor = lengthOf(parsed, 'open-for')
  const how = openFor === undefined ? {} : { openForMs: durationMs(openFor, '--open-for') }
  const diagnostics = await tools.diagnose(how)
  if (!isCurrent(await tools.schema())) return diagnostics
  const work = await withMill(parsed, (mill) => diagnoseMill(mill, resolveOptions(options)))
  return [...diagnostics, ...work]
}

const LEVELS = ['error', 'warning', 'notice', 'ok'] as const satisfies readonly Diagnostic['level'][]
const STYLES: Readonly<Record<Diagnostic['level'], Style>> = {
  error: 'red',
  warning: 'yellow',
  notice: 'cyan',
  ok: 'green',
}

function bySeverity(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return LEVELS.flatMap((level) => diagnostics.filter((one) => one.level === level))
}

function countOf(diagnostics: readonly Diagnostic[], level: Diagnostic['level']): number {
  return diagnostics.filter((one) => one.level === level).length
}

function diagnosticLines(diagnostics: readonly Diagnostic[], { paint }: Terminal): string[] {
  const width = Math.max(0, ...diagnostics.map(({ check }) => check.length))
  return diagnostics.flatMap(({ level, check, message, fix }) => [
    `${paint(STYLES[level], level.padEnd(7))} ${check.padEnd(width)}  ${safeLine(message)}`,
    ...(fix === null ? [] : [`${' '.repeat(7 + 1 + width)}  ${paint('bold', 'fix:')} ${safeLine(fix)}`]),
  ])
}

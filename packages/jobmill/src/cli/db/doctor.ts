/** `jobmill db doctor`: everything that is wrong with a database or the work on it, and what to do about it. */
import { durationMs } from '../../job/duration.ts'
import { diagnoseMill, periodsOf } from '../../runtime/diagnose.ts'
import { resolveOptions } from '../../runtime/options.ts'
import type { Diagnostic } from '../../store/admin.ts'
import { isCurrent } from '../../store/schema-status.ts'
import { type Command, EXIT, type Given } from '../command.ts'
import { lengthOf } from '../typed-values.ts'
import { optionsFor, withMill } from '../with-mill.ts'
import { bySeverity, countOf, printDiagnostics } from './print-diagnostics.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../waiting.ts'

export const dbDoctor: Command = {
  words: 'db doctor',
  says: 'look for what is wrong or slow, and say what to do; never changes anything (ends with 1 on an error)',
  options: {
    'open-for': {
      type: 'string',
      takes: 'DURATION',
      says: 'how long a transaction may be open before it is told (default 5m)',
    },
  },
  examples: [
    'jobmill db doctor',
    'jobmill db doctor --db postgres://app@localhost/app --open-for 30s --json',
  ],
  async run(given, terminal) {
    const diagnostics = await waitingFor('the database', look(given), terminal)
    const [errors, warnings] = [countOf(diagnostics, 'error'), countOf(diagnostics, 'warning')]
    if (given.has('json'))
      terminal.out(JSON.stringify({ errors, warnings, diagnostics: bySeverity(diagnostics) }))
    else printDiagnostics(diagnostics, terminal)
    return errors > 0 ? EXIT.failed : EXIT.done
  },
}

/** A mill migrates what it opens, so the work is looked at only where there is nothing to migrate. */
async function look(given: Given): Promise<Diagnostic[]> {
  const options = await optionsFor(given)
  const tools = toolsOf(options.store)
  const openFor = lengthOf(given, 'open-for')
  const how = openFor === undefined ? {} : { openForMs: durationMs(openFor, '--open-for') }
  const diagnostics = await tools.diagnose(how)
  if (!isCurrent(await tools.schema())) return diagnostics
  const work = await withMill(given, (mill) => diagnoseMill(mill, periodsOf(resolveOptions(options))))
  return [...diagnostics, ...work]
}

/** `jobmill overrides`: lists and resets options that an operator set in place of those in code. */
import { checkOneOf } from '../../job/numbers.ts'
import { OVERRIDABLE } from '../../job/queue/overrides.ts'
import type { OverrideView } from '../../runtime/operate/overrides.ts'
import { type Command, EXIT } from '../program/command.ts'
import { confirm, YES } from '../output/confirm.ts'
import { type Cell, table } from '../output/table.ts'
import { omitUndefined } from '../program/typed-values.ts'
import { withMill } from '../with-mill.ts'
import { localTime } from '../output/wording.ts'

const HEADS = ['type', 'name', 'option', 'value', 'code', 'by', 'at']

export const overridesList: Command = {
  words: 'overrides',
  says: 'list options of queues, limits and schedules that operators have overridden',
  examples: ['jobmill overrides', `jobmill overrides --json | jq '.overrides[].option'`],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const overrides = await mill.overrides()
      if (parsed.has('json')) terminal.out(JSON.stringify({ overrides }))
      else terminal.out(table(HEADS, overrides.map(rowOf), 'no overrides', terminal))
      return EXIT.done
    }),
}

export const overridesReset: Command = {
  words: 'overrides reset',
  takes: '[queue|limit|schedule [NAME [OPTION]]]',
  arguments: [0, 3],
  says: 'reset overrides to the values in code: one option, one queue, limit or schedule, or all',
  options: { yes: YES },
  fields: { what: 'queue|limit|schedule', name: 'NAME', option: 'OPTION' },
  examples: [
    'jobmill overrides reset queue mail workers',
    'jobmill overrides reset limit smtp',
    'jobmill overrides reset --yes',
  ],
  run: async (parsed, terminal) => {
    const [word, name, option] = parsed.words
    const what = word === undefined ? undefined : checkOneOf(word, 'what', OVERRIDABLE)
    return withMill(parsed, async (mill) => {
      const selection = omitUndefined({ what, name, option })
      if (name === undefined && !(await confirm(question(what), parsed, terminal))) {
        terminal.err('nothing was reset')
        return EXIT.refused
      }
      const reset = await mill.resetOverrides(selection)
      if (parsed.has('json')) terminal.out(JSON.stringify({ reset }))
      else if (reset.length === 0) terminal.out('no overrides to reset')
      else for (const one of reset) terminal.out(resetText(one))
      return EXIT.done
    })
  },
}

function question(what: string | undefined): string {
  return what === undefined ? 'reset all overrides?' : `reset all overrides of every ${what}?`
}

function resetText({ what, name, option, value, code, isInCode, isApplied }: OverrideView): string {
  if (!isApplied) return `${what} ${name}: ${option} ${written(value)} (not applied) removed`
  return `${what} ${name}: ${option} ${written(value)} → ${written(code)}${isInCode ? '' : ' (default)'}`
}

function rowOf({ what, name, option, value, code, isInCode, isApplied, by, at }: OverrideView): Cell[] {
  return [
    what,
    name,
    option,
    isApplied
      ? { text: written(value), style: 'yellow' }
      : { text: `${written(value)} (not applied)`, style: 'dim' },
    isInCode ? written(code) : `${written(code)} (default)`,
    by,
    at === null ? null : localTime(at),
  ]
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

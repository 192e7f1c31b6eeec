/** `jobmill overrides`: lists and resets options that an operator set in place of those in code. */
import { checkOneOf } from '../../job/numbers.ts'
import { OVERRIDABLE } from '../../job/queue/overrides.ts'
import type { OverrideView } from '../../runtime/operate/overrides.ts'
import { type Command, EXIT } from '../program/command.ts'
import { confirm, YES } from '../output/confirm.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { answerWith } from '../with-mill.ts'
import { localTime } from '../output/wording.ts'

const list: Command = {
  words: 'overrides',
  says: 'list options of queues, limits and schedules that operators have overridden',
  examples: ['jobmill overrides', `jobmill overrides --json | jq '.overrides[].option'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const found = await mill.overrides()
      return { json: { overrides: found }, text: tableOf(found, COLUMNS, 'no overrides', terminal) }
    }),
}

const reset: Command = {
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
  async run(parsed, terminal) {
    const [word, name, option] = parsed.words
    const what = word === undefined ? undefined : checkOneOf(word, 'what', OVERRIDABLE)
    const question = what === undefined ? 'reset all overrides?' : `reset all overrides of every ${what}?`
    return answerWith(parsed, terminal, async (mill) => {
      if (name === undefined && !(await confirm(question, 'nothing was reset', parsed, terminal)))
        return EXIT.refused
      const dropped = await mill.resetOverrides(omitUndefined({ what, name, option }))
      const text = dropped.length === 0 ? 'no overrides to reset' : dropped.map(resetText)
      return { json: { reset: dropped }, text }
    })
  },
}

export const overrides: readonly Command[] = [list, reset]

function resetText({ what, name, option, value, code, isInCode, isApplied }: OverrideView): string {
  if (!isApplied) return `${what} ${name}: ${option} ${written(value)} (not applied) removed`
  return `${what} ${name}: ${option} ${written(value)} → ${written(code)}${isInCode ? '' : ' (default)'}`
}

const COLUMNS: Columns<OverrideView> = {
  type: ({ what }) => what,
  name: ({ name }) => name,
  option: ({ option }) => option,
  value: ({ value, isApplied }) =>
    isApplied
      ? { text: written(value), style: 'yellow' }
      : { text: `${written(value)} (not applied)`, style: 'dim' },
  code: ({ code, isInCode }) => (isInCode ? written(code) : `${written(code)} (default)`),
  by: ({ by }) => by,
  at: ({ at }) => localTime(at),
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `jobmill alerts list`, `set`, `test` and `delete`. */
import { readFileSync } from 'node:fs'
import type { AlertChange } from '../../job/alert/alert-options.ts'
import type { CheckName } from '../../job/alert/check-names.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { AlertView } from '../../runtime/alerts/alerts.ts'
import { confirm, YES } from '../output/confirm.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { fromNow, optionText } from '../output/wording.ts'
import { type Command, EXIT, ONE_NAME, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { lengthOf } from '../program/typed-values.ts'
import { answerWith } from '../with-mill.ts'

const list: Command = {
  words: 'alerts list',
  says: 'list alert rules with their current problems',
  examples: ['jobmill alerts list', `jobmill alerts list --json | jq '.alerts[].problems'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const alerts = await mill.alerts.list()
      const columns = columnsAt(systemPlatform.now())
      return { json: { alerts }, text: tableOf(alerts, columns, 'no alert rules', terminal) }
    }),
}

function columnsAt(now: number): Columns<AlertView> {
  return {
    rule: ({ name }) => name,
    checks: ({ checks }) => checks?.join(', ') ?? 'all',
    about: (rule) => aboutText(rule),
    webhook: ({ url }) => url,
    'cool-down': ({ coolDownMs }) => optionText(coolDownMs),
    problems: ({ problems }) =>
      problems.length === 0 ? 0 : { text: String(problems.length), style: 'yellow' },
    'last sent': ({ lastSentAt }) => (lastSentAt === null ? null : fromNow(lastSentAt, now)),
    state: ({ paused, inCode }) =>
      [...(paused ? ['paused'] : []), ...(inCode ? ['in code'] : [])].join(', ') || null,
  }
}

function aboutText({ queue, kind }: AlertView): string | null {
  const parts = [...(queue === null ? [] : [`queue ${queue}`]), ...(kind === null ? [] : [`kind ${kind}`])]
  return parts.length === 0 ? null : parts.join(', ')
}

/** Creates a rule, or changes one at run time. */
const set: Command = {
  words: 'alerts set',
  ...ONE_NAME,
  says: 'create or change an alert rule; omitted options keep their values',
  options: {
    check: { takes: 'CHECK', says: 'check whose problems are sent, or "all"; repeatable', multiple: true },
    queue: { takes: 'NAME', says: 'only problems of this queue, or "any"' },
    kind: { takes: 'NAME', says: 'only problems of this kind, or "any"' },
    url: { takes: 'URL', says: 'webhook that receives the messages' },
    'secret-file': {
      takes: 'FILE',
      says: 'file with the secret that signs the messages (whsec_…), or several, one per line, newest first',
    },
    for: { takes: 'DURATION', says: 'how long a problem must last before it is sent (default 0s)' },
    'cool-down': {
      takes: 'DURATION',
      says: 'minimum time between messages about the same cause (default 1h)',
    },
    recovery: { takes: 'yes|no', says: 'whether to send a message when a problem ends (default yes)' },
    pause: { says: 'send nothing until the rule is resumed' },
    resume: { says: 'resume a paused rule' },
  },
  fields: {
    name: 'NAME',
    'alert.check': '--check',
    'alert.queue': '--queue',
    'alert.kind': '--kind',
    'alert.url': '--url',
    'alert.secret': '--secret-file',
    'alert.for': '--for',
    'alert.coolFor': '--cool-down',
    'alert.recovery': '--recovery',
    'alert.paused': '--pause',
  },
  examples: [
    'jobmill alerts set ops --check dead --check waiting --url https://example.com/hook --secret-file alert.key',
    'jobmill alerts set mail --check dead --queue mail --cool-down 4h',
    'jobmill alerts set ops --pause',
  ],
  run(parsed, terminal) {
    const change = changeOf(parsed)
    const [name = ''] = parsed.words
    return answerWith(
      parsed,
      terminal,
      async (mill) => {
        const alert = await mill.alerts.set(name, change)
        const what = alert.checks?.join(', ') ?? 'all checks'
        return { json: alert, text: `${name}: ${what} → ${alert.url}${alert.paused ? ' (paused)' : ''}` }
      },
      { mayCreate: true },
    )
  },
}

function changeOf(parsed: ParsedArguments): AlertChange {
  const checks = parsed.texts('check')
  const change = omitUndefined({
    check: checks.length === 0 ? undefined : checks.includes('all') ? null : (checks as CheckName[]),
    queue: nameOrAny(parsed, 'queue'),
    kind: nameOrAny(parsed, 'kind'),
    url: parsed.text('url'),
    secret: secretsIn(parsed.text('secret-file')),
    for: lengthOf(parsed, 'for'),
    coolFor: lengthOf(parsed, 'cool-down'),
    recovery: yesOrNo(parsed, 'recovery'),
    paused: parsed.has('pause') ? true : parsed.has('resume') ? false : undefined,
  })
  if (parsed.has('pause') && parsed.has('resume'))
    throw invalid('--resume', 'cannot be combined with --pause', 'Pass one of them')
  if (Object.keys(change).length > 0) return change
  throw invalid('alerts set', 'no option passed', 'Pass --check, --url and --secret-file, or --pause')
}

function nameOrAny(parsed: ParsedArguments, option: string): string | null | undefined {
  const text = parsed.text(option)
  return text === 'any' ? null : text
}

function yesOrNo(parsed: ParsedArguments, option: string): boolean | undefined {
  const text = parsed.text(option)
  if (text === undefined) return undefined
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw invalid(`--${option}`, 'must be yes or no', 'Use yes or no', text)
}

/** Reads secrets from a file, because other users of the machine can read the arguments of a program. */
function secretsIn(path: string | undefined): string[] | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  } catch {
    throw invalid('--secret-file', 'cannot be read', 'Pass the path of a file with a secret', path)
  }
}

const test: Command = {
  words: 'alerts test',
  ...ONE_NAME,
  says: 'send a test message to the webhook of an alert rule, even if the rule is paused',
  fields: { name: 'NAME' },
  examples: ['jobmill alerts test ops'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [name = ''] = parsed.words
      const { job } = await mill.alerts.test(name)
      return { json: { name, job }, text: `enqueued a test message of ${name}: jobmill jobs show ${job}` }
    }),
}

const remove: Command = {
  words: 'alerts delete',
  ...ONE_NAME,
  says: 'delete an alert rule; a rule that is defined in code is created again at the next start',
  options: { yes: YES },
  fields: { name: 'NAME' },
  examples: ['jobmill alerts delete ops', 'jobmill alerts delete ops --yes'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [name = ''] = parsed.words
      const rule = (await mill.alerts.list()).find((one) => one.name === name)
      if (rule === undefined) {
        const fix = 'Run "jobmill alerts list" to see all alert rules'
        throw invalid('NAME', 'no alert rule has this name', fix, name, 'ALERT_UNKNOWN')
      }
      const question = `delete ${name} (${rule.url})?`
      if (!(await confirm(question, 'nothing was deleted', parsed, terminal))) return EXIT.refused
      const deleted = await mill.alerts.delete(name)
      return { json: { name, deleted }, text: `deleted ${name}` }
    }),
}

export const alerts: readonly Command[] = [list, set, test, remove]

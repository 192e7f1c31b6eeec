/** `mailboxes …`: manages mailboxes and their tokens. `sweep`: runs one pass by hand. */
import { omitUndefined } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { EXIT, numberOf, oneLine } from 'jobmill/cli'
import { bytesOf, sizeText } from '../config/sizes.ts'
import { checkCaps, type NewMailbox } from '../inbox/mailboxes.ts'
import { invalid } from '../invalid.ts'
import { OUTCOMES } from '../inbox/sweep/sweep-counter.ts'
import { resolveLimits } from '../options.ts'
import { MAY, type May } from '../tables/schema.ts'
import type { Command, CommandInput } from './command.ts'
import { optionsOf, withInbox } from './open-inbox.ts'

const add: Command = {
  words: 'mailboxes add',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'create a mailbox and its first token, which is shown once',
  options: {
    'quota-bytes': { takes: 'SIZE', says: 'maximum total size: 10GiB' },
    'quota-files': { takes: 'N', says: 'maximum number of files' },
    'max-file': { takes: 'SIZE', says: 'maximum file size: 100MiB' },
    'max-request': { takes: 'SIZE', says: 'maximum size of an upload with all its files' },
    'uploads-at-once': { takes: 'N', says: 'maximum parallel uploads per process' },
  },
  fields: {
    name: 'NAME',
    quotaBytes: '--quota-bytes',
    quotaFiles: '--quota-files',
    maxFileBytes: '--max-file',
    maxRequestBytes: '--max-request',
    uploadsPerMailbox: '--uploads-at-once',
  },
  async run(given) {
    // Validate before the database is created.
    const asked = newMailbox(given)
    checkCaps(asked, resolveLimits(optionsOf(given.config().config)))
    return withInbox(
      given,
      async (inbox) => {
        const mailbox = await inbox.mailboxes.add(asked)
        const { token } = await inbox.tokens.add(mailbox.id, { label: 'first' })
        return print(given, { ...mailbox, token }, [
          `mailbox ${mailbox.id}`,
          `token   ${token}`,
          '        It is not shown again. It can upload and fetch; create restricted tokens with: mailboxes token add',
        ])
      },
      { makes: true },
    )
  },
}

const list: Command = {
  words: 'mailboxes list',
  says: 'list mailboxes with usage, limits and tokens',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const all = await Promise.all(
        (await inbox.mailboxes.list()).map(async (mailbox) => ({
          ...mailbox,
          tokens: await inbox.tokens.list(mailbox.id),
        })),
      )
      const lines = all.flatMap(({ id, name, tokens, limits, used }) => [
        `${id}  ${oneLine(name)}`,
        `  holds ${used.files} files of ${orNone(limits.quotaFiles, String)}, ${sizeText(used.bytes)} of ${orNone(limits.quotaBytes, sizeText)}; acknowledged files count until they are swept`,
        `  accepts files up to ${sizeText(limits.maxFileBytes)}, requests up to ${sizeText(limits.maxRequestBytes)} with ${limits.maxFiles} files, ${limits.uploadsPerMailbox} parallel uploads`,
        ...tokens.map((token) => `  token ${token.id}  may ${token.may}  ${oneLine(token.label)}`.trimEnd()),
      ])
      const none = ['no mailboxes; create one with: jobmill-uploads mailboxes add NAME']
      return print(given, all, all.length === 0 ? none : lines)
    }),
}

const remove: Command = {
  words: 'mailboxes remove',
  takes: 'ID',
  arguments: [1, 1],
  says: 'remove a mailbox immediately; the next sweep deletes its files',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [id = ''] = given.words
      if (!(await inbox.mailboxes.remove(id))) return noSuchMailbox(given, id)
      return print(given, { id, removed: true }, [`removed mailbox ${id}; the next sweep deletes its files`])
    }),
}

const addToken: Command = {
  words: 'mailboxes token add',
  takes: 'MAILBOX',
  arguments: [1, 1],
  says: 'create a token for a mailbox, shown once',
  options: {
    may: { takes: MAY.join('|'), says: 'what the token allows (default both)' },
    label: { takes: 'TEXT', says: 'description of the token' },
  },
  fields: { may: '--may', label: '--label', mailbox: 'MAILBOX' },
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [mailbox = ''] = given.words
      const known = await inbox.mailboxes.list()
      if (!known.some(({ id }) => id === mailbox.toLowerCase())) return noSuchMailbox(given, mailbox)
      const may = (given.text('may') ?? 'both') as May
      const made = await inbox.tokens.add(mailbox, { may, label: given.text('label') ?? '' })
      return print(given, made, [`token   ${made.token}`, `id      ${made.id}`])
    }),
}

const revokeToken: Command = {
  words: 'mailboxes token revoke',
  takes: 'ID',
  arguments: [1, 1],
  says: 'revoke a token immediately',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [id = ''] = given.words
      if (!(await inbox.tokens.revoke(id))) {
        given.err(
          `error   unknown token ${quote(id)}. List the token ids with: jobmill-uploads mailboxes list`,
        )
        return EXIT.refused
      }
      return print(given, { id, revoked: true }, [`revoked token ${id}`])
    }),
}

const sweep: Command = {
  words: 'sweep',
  says: 'run one sweep pass now and show what it deleted',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const counts = await inbox.sweep()
      return print(
        given,
        counts,
        OUTCOMES.map((outcome) => `${outcome.padEnd(18)} ${counts[outcome]}`),
      )
    }),
}

/** Prints a value as JSON, or as lines of text. */
function print({ out, has }: CommandInput, value: unknown, lines: readonly string[]): number {
  for (const line of has('json') ? [JSON.stringify(value)] : lines) out(line)
  return EXIT.done
}

function orNone(bound: number | null, text: (bound: number) => string): string {
  return bound === null ? 'unlimited' : text(bound)
}

function noSuchMailbox({ err }: CommandInput, id: string): number {
  err(`error   unknown mailbox ${quote(id)}. List the mailboxes with: jobmill-uploads mailboxes list`)
  return EXIT.refused
}

export const mailboxCommands: readonly Command[] = [add, list, remove, addToken, revokeToken, sweep]

function newMailbox(given: CommandInput): NewMailbox {
  const { words, text } = given
  const size = (option: string): number | undefined => {
    const value = text(option)
    if (value === undefined) return undefined
    const bytes = bytesOf(value)
    if (bytes !== null) return bytes
    const fix = 'Pass a number of bytes, or a size such as 100MiB'
    throw invalid(`--${option}`, value, 'must be a size', fix, 'NUMBER_INVALID')
  }
  return {
    name: words[0] ?? '',
    ...omitUndefined({
      quotaFiles: numberOf(given, 'quota-files'),
      quotaBytes: size('quota-bytes'),
      maxFileBytes: size('max-file'),
      maxRequestBytes: size('max-request'),
      uploadsPerMailbox: numberOf(given, 'uploads-at-once'),
    }),
  }
}

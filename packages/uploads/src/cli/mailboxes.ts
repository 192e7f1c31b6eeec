/** `mailboxes …`: who may send files here, and who may fetch them. */
import { JobmillError } from 'jobmill'
import { EXIT, numberOf, oneLine } from 'jobmill/cli'
import { bytesOf, sizeText } from '../config/sizes.ts'
import { checkCaps, type NewMailbox } from '../inbox/mailboxes.ts'
import { shown } from '../inbox/words.ts'
import { resolveLimits } from '../options.ts'
import { MAY, type May } from '../tables/schema.ts'
import type { Command, Given } from './command.ts'
import { optionsOf } from './open-inbox.ts'
import { withInbox } from './with-inbox.ts'

const add: Command = {
  words: 'mailboxes add',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'makes a mailbox, and its first token, which is shown this once',
  options: {
    'quota-bytes': { type: 'string', takes: 'SIZE', says: 'how much it may hold: 10GiB' },
    'quota-files': { type: 'string', takes: 'N', says: 'how many files it may hold' },
    'max-file': { type: 'string', takes: 'SIZE', says: 'the largest file: 100MiB' },
    'max-request': { type: 'string', takes: 'SIZE', says: 'the largest upload, all files together' },
    'uploads-at-once': {
      type: 'string',
      takes: 'N',
      says: 'how many uploads to it a process takes at a time',
    },
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
    // Before a database is made for it.
    const asked = newMailbox(given)
    checkCaps(asked, resolveLimits(optionsOf(given.config().config)))
    return withInbox(
      given,
      async (inbox) => {
        const mailbox = await inbox.mailboxes.add(asked)
        const { token } = await inbox.tokens.add(mailbox.id, { label: 'first' })
        if (given.has('json')) given.out(JSON.stringify({ ...mailbox, token }))
        else {
          given.out(`mailbox ${mailbox.id}`)
          given.out(`token   ${token}`)
          given.out(
            '        It is not shown again. It may upload and fetch; for tokens that may do one: mailboxes token add',
          )
        }
        return EXIT.done
      },
      { makes: true },
    )
  },
}

const list: Command = {
  words: 'mailboxes list',
  says: 'every mailbox: what it holds and may hold, what it takes, and its tokens',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const all = await Promise.all(
        (await inbox.mailboxes.list()).map(async (mailbox) => ({
          ...mailbox,
          tokens: await inbox.tokens.list(mailbox.id),
        })),
      )
      if (given.has('json')) given.out(JSON.stringify(all))
      for (const { id, name, tokens, limits, used } of given.has('json') ? [] : all) {
        given.out(`${id}  ${oneLine(name)}`)
        given.out(
          `  holds ${used.files} files of ${orNone(limits.quotaFiles, String)}, ${sizeText(used.bytes)} of ${orNone(limits.quotaBytes, sizeText)}; acknowledged ones count until they are swept`,
        )
        given.out(
          `  takes files of ${sizeText(limits.maxFileBytes)}, requests of ${sizeText(limits.maxRequestBytes)} with ${limits.maxFiles} files, ${limits.uploadsPerMailbox} uploads at once`,
        )
        for (const token of tokens)
          given.out(`  token ${token.id}  may ${token.may}  ${oneLine(token.label)}`.trimEnd())
      }
      if (all.length === 0 && !given.has('json'))
        given.out('no mailboxes; make one with: jobmill-uploads mailboxes add NAME')
      return EXIT.done
    }),
}

const remove: Command = {
  words: 'mailboxes remove',
  takes: 'ID',
  arguments: [1, 1],
  says: 'ends a mailbox at once; its files are gone with the next sweep',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [id = ''] = given.words
      if (!(await inbox.mailboxes.remove(id))) return noSuchMailbox(given, id)
      given.out(
        given.has('json')
          ? JSON.stringify({ id, removed: true })
          : `removed mailbox ${id}; its files are gone with the next sweep`,
      )
      return EXIT.done
    }),
}

const addToken: Command = {
  words: 'mailboxes token add',
  takes: 'MAILBOX',
  arguments: [1, 1],
  says: 'another token for a mailbox, shown this once',
  options: {
    may: { type: 'string', takes: MAY.join('|'), says: 'what it is for (default both)' },
    label: { type: 'string', takes: 'TEXT', says: 'what people know it by' },
  },
  fields: { may: '--may', label: '--label', mailbox: 'MAILBOX' },
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [mailbox = ''] = given.words
      const known = await inbox.mailboxes.list()
      if (!known.some(({ id }) => id === mailbox.toLowerCase())) return noSuchMailbox(given, mailbox)
      const may = (given.text('may') ?? 'both') as May
      const made = await inbox.tokens.add(mailbox, { may, label: given.text('label') ?? '' })
      given.out(given.has('json') ? JSON.stringify(made) : `token   ${made.token}\nid      ${made.id}`)
      return EXIT.done
    }),
}

const revokeToken: Command = {
  words: 'mailboxes token revoke',
  takes: 'ID',
  arguments: [1, 1],
  says: 'a token that works no longer, from now on',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [id = ''] = given.words
      if (!(await inbox.tokens.revoke(id))) {
        given.err(
          `error   there is no token ${shown(id)}. The ids of those there are stand in: jobmill-uploads mailboxes list`,
        )
        return EXIT.refused
      }
      given.out(
        given.has('json') ? JSON.stringify({ id, revoked: true }) : `revoked token ${id}; it works no longer`,
      )
      return EXIT.done
    }),
}

function orNone(bound: number | null, text: (bound: number) => string): string {
  return bound === null ? 'any number' : text(bound)
}

function noSuchMailbox({ err }: Given, id: string): number {
  err(`error   there is no mailbox ${shown(id)}. List those there are with: jobmill-uploads mailboxes list`)
  return EXIT.refused
}

export const mailboxCommands: readonly Command[] = [add, list, remove, addToken, revokeToken]

function newMailbox(given: Given): NewMailbox {
  const { words, text } = given
  const size = (option: string): number | undefined => {
    const value = text(option)
    if (value === undefined) return undefined
    const bytes = bytesOf(value)
    if (bytes !== null) return bytes
    throw new JobmillError('NUMBER_INVALID', 'is no size', {
      field: `--${option}`,
      value: shown(value),
      fix: 'Give bytes, or 100MiB',
    })
  }
  const quotaFiles = numberOf(given, 'quota-files')
  const quotaBytes = size('quota-bytes')
  const maxFileBytes = size('max-file')
  const maxRequestBytes = size('max-request')
  const uploadsPerMailbox = numberOf(given, 'uploads-at-once')
  return {
    name: words[0] ?? '',
    ...(quotaFiles !== undefined && { quotaFiles }),
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    ...(maxRequestBytes !== undefined && { maxRequestBytes }),
    ...(uploadsPerMailbox !== undefined && { uploadsPerMailbox }),
  }
}

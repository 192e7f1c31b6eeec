/** `mailboxes …`: who may send files here, and who may fetch them. */
import { JobmillError } from 'jobmill'
import { bytesOf } from '../config/sizes.ts'
import type { NewMailbox } from '../inbox/mailboxes.ts'
import { MAY, type May } from '../tables/schema.ts'
import type { Inbox } from '../uploads.ts'
import { type Command, EXIT, type Given } from './command.ts'
import { openInbox } from './open-inbox.ts'

const add: Command = {
  words: 'mailboxes add',
  takes: 'NAME',
  arguments: [1, 1],
  says: 'makes a mailbox, and its first token, which is shown this once',
  options: {
    'quota-bytes': ['SIZE', 'how much it may hold: 10GiB'],
    'quota-files': ['N', 'how many files it may hold'],
    'max-file': ['SIZE', 'the largest file: 100MiB'],
    'max-request': ['SIZE', 'the largest upload, all files together'],
  },
  run: (given) =>
    withInbox(given, async (inbox) => {
      const mailbox = await inbox.mailboxes.add(newMailbox(given))
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
    }),
}

const list: Command = {
  words: 'mailboxes list',
  says: 'every mailbox, and its tokens',
  run: (given) =>
    withInbox(given, async (inbox) => {
      const all = await Promise.all(
        (await inbox.mailboxes.list()).map(async (mailbox) => ({
          ...mailbox,
          tokens: await inbox.tokens.list(mailbox.id),
        })),
      )
      if (given.has('json')) given.out(JSON.stringify(all))
      for (const { id, name, tokens } of given.has('json') ? [] : all) {
        given.out(`${id}  ${name}`)
        for (const token of tokens) given.out(`  token ${token.id}  may ${token.may}  ${token.label}`)
      }
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
      if (await inbox.mailboxes.remove(id)) return EXIT.done
      given.err('error   there is no such mailbox. List those there are with: jobmill-uploads mailboxes list')
      return EXIT.refused
    }),
}

const addToken: Command = {
  words: 'mailboxes token add',
  takes: 'MAILBOX',
  arguments: [1, 1],
  says: 'another token for a mailbox, shown this once',
  options: {
    may: [MAY.join('|'), 'what it is for (default both)'],
    label: ['TEXT', 'what people know it by'],
  },
  run: (given) =>
    withInbox(given, async (inbox) => {
      const [mailbox = ''] = given.words
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
      if (await inbox.tokens.revoke(id)) return EXIT.done
      given.err('error   there is no such token. They are in: jobmill-uploads mailboxes list')
      return EXIT.refused
    }),
}

export const mailboxCommands: readonly Command[] = [add, list, remove, addToken, revokeToken]

async function withInbox(given: Given, act: (inbox: Inbox) => Promise<number>): Promise<number> {
  const { inbox, close } = await openInbox(given.config())
  try {
    await inbox.start()
    return await act(inbox)
  } finally {
    await close()
  }
}

function newMailbox({ words, text }: Given): NewMailbox {
  const size = (option: string): number | undefined => {
    const value = text(option)
    if (value === undefined) return undefined
    const bytes = bytesOf(value)
    if (bytes !== null) return bytes
    throw new JobmillError('NUMBER_INVALID', 'is no size', {
      field: `--${option}`,
      value: JSON.stringify(value.slice(0, 40)),
      fix: 'Give bytes, or 100MiB',
    })
  }
  const files = text('quota-files')
  const quotaBytes = size('quota-bytes')
  const maxFileBytes = size('max-file')
  const maxRequestBytes = size('max-request')
  return {
    name: words[0] ?? '',
    ...(files !== undefined && { quotaFiles: Number(files) }),
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...(maxFileBytes !== undefined && { maxFileBytes }),
    ...(maxRequestBytes !== undefined && { maxRequestBytes }),
  }
}

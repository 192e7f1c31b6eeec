// Remembers the statements that a pooled session has prepared. They are not prepared again for its next
// client, which would take the server a millisecond each. Unnamed statements get a name here.
import { createHash } from 'node:crypto'
import { firstText } from './postgres-messages.ts'

export interface KeptStatements {
  /**
   * Returns what to send to the server instead of a message of the client: nothing when the statement is
   * already prepared.
   */
  readonly sent: (type: string, message: Buffer) => Buffer
  readonly answered: (type: string) => void
}

const NOTHING = Buffer.alloc(0)
const HEADER = 5
/** These messages end a group: after an error the server skips the rest of the group. */
const SYNCS = 'QSF'
/** The store derives statement names from their text, so the same name means the same statement. */
const OURS = 'jobmill_'
const KEPT = 'kept_'
/** Statements that have a plan. */
const PLANNED = /^\s*(select|with|insert|update|delete)\b/i

export const NO_STATEMENTS: KeptStatements = { sent: (_, message) => message, answered: () => {} }

export function keptStatements(): KeptStatements {
  const known = new Set<string>()
  /**
   * Names being prepared, in the order of their answers, one list per group. The first answer is to the
   * client's startup message.
   */
  const asked: string[][] = [[], []]
  /** The name given to the unnamed statement. */
  let unnamed = ''

  // The server never gets some of these messages, so the client gets no reply to them. It does not need one:
  // it only waits for the end of the group.
  function prepare(message: Buffer): Buffer {
    const text = firstText(message)
    const body = message.subarray(HEADER + text.length + 1)
    const name = text === '' && PLANNED.test(body.toString('latin1', 0, 40)) ? nameOf(body) : text
    if (text === '') unnamed = name
    if (known.has(name)) return NOTHING
    asked.at(-1)?.push(name)
    return name === text ? message : parse(name, body)
  }

  return {
    sent(type, message) {
      if (SYNCS.includes(type)) asked.push([])
      if (type === 'P') return prepare(message)
      if (type === 'B' && unnamed !== '') return rewriteBind(message, unnamed)
      return message
    },
    answered(type) {
      if (type === 'Z') asked.shift()
      if (type !== '1') return
      const name = asked[0]?.shift() ?? ''
      if (name.startsWith(OURS) || name.startsWith(KEPT)) known.add(name)
    },
  }
}

function nameOf(body: Buffer): string {
  return KEPT + createHash('sha1').update(body).digest('hex')
}

function parse(name: string, body: Buffer): Buffer {
  return withSize('P', Buffer.from(`${name}\0`), body)
}

/** A Bind message names its portal first and then the statement. */
function rewriteBind(message: Buffer, statement: string): Buffer {
  const portalEnd = message.indexOf(0, HEADER) + 1
  if (message[portalEnd] !== 0) return message
  return withSize(
    'B',
    message.subarray(HEADER, portalEnd),
    Buffer.from(`${statement}\0`),
    message.subarray(portalEnd + 1),
  )
}

function withSize(type: string, ...parts: readonly Buffer[]): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(4 + parts.reduce((sum, { length }) => sum + length, 0))
  return Buffer.concat([Buffer.from(type), size, ...parts])
}

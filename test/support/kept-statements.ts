// The statements that a kept session has parsed and planned already: they are not prepared again for its next client, which would take the server a millisecond
// each. Those without a name get one here.
import { createHash } from 'node:crypto'
import { firstText } from './postgres-messages.ts'

export interface KeptStatements {
  /** What the server gets in place of a message of the client: nothing where it has prepared that statement already. */
  readonly sent: (type: string, message: Buffer) => Buffer
  readonly answered: (type: string) => void
}

const NOTHING = Buffer.alloc(0)
const HEADER = 5
/** Ends what is answered together: after an error the server skips the rest of it. */
const SYNCS = 'QSF'
/** The store makes the names of its statements from their texts: the same name is the same statement. */
const OURS = 'jobmill_'
const KEPT = 'kept_'
/** What has a plan. */
const PLANNED = /^\s*(select|with|insert|update|delete)\b/i

export const NO_STATEMENTS: KeptStatements = { sent: (_, message) => message, answered: () => {} }

export function keptStatements(): KeptStatements {
  const known = new Set<string>()
  /** Names that are being prepared, in the order of their answers, by what is answered together. The first answer is to the client's greeting. */
  const asked: string[][] = [[], []]
  /** What the statement without a name is called here. */
  let unnamed = ''

  // The client does without the answer to what the server does not get: it would only ask again.
  function prepare(message: Buffer): Buffer {
    const given = firstText(message)
    const body = message.subarray(HEADER + given.length + 1)
    const name = given === '' && PLANNED.test(body.toString('latin1', 0, 40)) ? nameOf(body) : given
    if (given === '') unnamed = name
    if (known.has(name)) return NOTHING
    asked.at(-1)?.push(name)
    return name === given ? message : parse(name, body)
  }

  return {
    sent(type, message) {
      if (SYNCS.includes(type)) asked.push([])
      if (type === 'P') return prepare(message)
      if (type === 'B' && unnamed !== '') return bound(message, unnamed)
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

/** A Bind says its portal first, and then the statement. */
function bound(message: Buffer, statement: string): Buffer {
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

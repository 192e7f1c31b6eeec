/** The token, read anew for every request: whoever changes it needs not start the client again. */
import { readFile } from 'node:fs/promises'
import { ClientError, textOf } from './client-error.ts'

/** The token itself, a file that has it, or a function that knows it. */
export type TokenSource = string | { readonly file: string } | (() => string | Promise<string>)

export function tokenReader(source: TokenSource): () => Promise<string> {
  return async () => {
    const token = (await read(source)).trim()
    if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token
    throw new ClientError('TOKEN_UNREADABLE', 'is no token', {
      field: 'token',
      fix: 'Give what "jobmill-uploads mailboxes add" has shown, and nothing else',
    })
  }
}

async function read(source: TokenSource): Promise<string> {
  try {
    if (typeof source === 'string') return source
    return typeof source === 'function' ? await source() : await readFile(source.file, 'utf8')
  } catch (error) {
    const from = typeof source === 'object' ? ` from ${source.file}` : ''
    throw new ClientError('TOKEN_UNREADABLE', `cannot be read${from}: ${textOf(error)}`, {
      field: 'token',
      fix: 'Put the token there, readable for this process',
      cause: error,
    })
  }
}

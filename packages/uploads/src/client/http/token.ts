/** Reads the token for every request, so that it can be rotated without a restart. */
import { readFile } from 'node:fs/promises'
import { ClientError, textOf } from './client-error.ts'

/** The token, a file that contains it, or a function that returns it. */
export type TokenSource = string | { readonly file: string } | (() => string | Promise<string>)

export function tokenReader(source: TokenSource): () => Promise<string> {
  return async () => {
    const token = (await read(source)).trim()
    if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token
    throw new ClientError('TOKEN_UNREADABLE', 'must be a token of 1 to 1000 visible ASCII characters', {
      field: 'token',
      fix: 'Use the token exactly as it was printed when it was created',
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
      fix:
        typeof source === 'object'
          ? 'Write the token to this file, and let this process read it'
          : 'Check the function that you passed',
      cause: error,
    })
  }
}

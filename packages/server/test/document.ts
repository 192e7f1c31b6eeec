/** The OpenAPI document of the API, without a server. */
import { httpApi } from '../src/index.ts'
import { jobmill } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import type { Document } from './calls.ts'

export async function apiDocument(): Promise<Document> {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  try {
    const api = httpApi(mill, { insecure: true })
    return (await (await api.fetch(new Request('http://x/api/openapi.json'))).json()) as Document
  } finally {
    await mill.stop()
  }
}

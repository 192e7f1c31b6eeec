/** Identifies the file, whatever path or link leads to it. */
import { stat } from 'node:fs/promises'

export async function identity(path: string): Promise<string> {
  if (path === ':memory:') return `sqlite ${path}`
  const { dev, ino } = await stat(path)
  return `sqlite ${dev} ${ino}`
}

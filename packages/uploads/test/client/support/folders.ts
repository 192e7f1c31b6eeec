/** Folders for pullers, and their contents. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { atFileEnd } from '../../../../../test/support/suite/file-end.ts'

const folders: string[] = []

async function removeAll(): Promise<void> {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** Removed after the tests of the file. */
export function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-pull-'))
  folders.push(folder)
  atFileEnd(removeAll)
  return folder
}

/** Everything except the puller's own files. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name !== '.jobmill-uploads')
    .toSorted()
}

export function indexOf(folder: string): Record<string, unknown>[] {
  const last = new Map<unknown, Record<string, unknown>>()
  for (const line of readFileSync(path.join(folder, '.jobmill-uploads/index.jsonl'), 'utf8').split('\n')) {
    if (line === '') continue
    const entry = JSON.parse(line) as Record<string, unknown>
    if (entry['gone'] === true) last.delete(entry['uri'])
    else last.set(entry['uri'], entry)
  }
  return [...last.values()]
}

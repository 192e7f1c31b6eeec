/** Prints the measurements as tables for docs/internals/benchmarks.md. */
import { cpus } from 'node:os'
import { writeFileSync } from 'node:fs'
import type { LoadReport } from './load.ts'
import type { MemoryReport } from './memory.ts'

export interface Proven {
  readonly loads: readonly LoadReport[]
  readonly memories: readonly MemoryReport[]
}

const memoryText = (memory: { mostMb: number } | null, other: number | undefined): string =>
  memory === null ? 'not reported' : `${other} / ${memory.mostMb} MB`

export function tell({ loads, memories }: Proven, json: string | undefined): void {
  if (loads.length > 0) {
    console.log(
      '\n| store, blobs | mailboxes | files | GB | time | uploads/s | MB/s | p50 | p99 | fetches/s | MB/s | p50 | p99 | acks/s | p99 | resident, median / most | load average |',
    )
    console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|')
  }
  for (const { name, mailboxes, files, gigabytes, seconds, upload, fetch, ack, memory, loadAverage } of loads)
    console.log(
      `| ${name} | ${mailboxes} | ${files} | ${gigabytes} | ${seconds} s | ${upload.perSecond} | ${upload.megabytesPerSecond} | ${upload.p50Ms} ms | ${upload.p99Ms} ms | ${fetch.perSecond} | ${fetch.megabytesPerSecond} | ${fetch.p50Ms} ms | ${fetch.p99Ms} ms | ${ack.perSecond} | ${ack.p99Ms} ms | ${memoryText(memory, memory?.medianMb)} | ${loadAverage} |`,
    )
  if (memories.length > 0) {
    console.log(
      '\n| store, blobs | uploads of 20 MB at once | time | resident, before / most | load average |',
    )
    console.log('|---|---|---|---|---|')
  }
  for (const { name, uploads, seconds, memory, loadAverage } of memories)
    console.log(
      `| ${name} | ${uploads} | ${seconds} s | ${memoryText(memory, memory?.idleMb)} | ${loadAverage} |`,
    )
  for (const { name, wrong } of loads)
    for (const one of wrong.slice(0, 20)) console.log(`WRONG  ${name}: ${one}`)
  for (const { name, isWell, memory } of memories)
    if (!isWell) console.log(`WRONG  ${name}: ${memory?.mostMb} MB resident, or a hash that differs`)
  if (json !== undefined)
    writeFileSync(json, JSON.stringify({ cores: cpus().length, loads, memories }, null, 2))
}

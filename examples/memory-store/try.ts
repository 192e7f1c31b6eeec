// A mill on the store of this folder. The jobs are gone when the process ends.
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { memoryStore } from './store.ts'

const double = defineJob({ kind: 'double', run: ({ payload }: JobContext<number>) => payload * 2 })

const mill = jobmill({ store: memoryStore(), jobs: [double] })
await mill.start()
const job = await mill.enqueue(double, 21)
console.log(await job.result()) // 42
await mill.stop()

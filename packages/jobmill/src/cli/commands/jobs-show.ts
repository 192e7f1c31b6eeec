/** `jobmill jobs show`: prints all details of one job. */
import { JobmillError, quote } from '../../job/errors.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { type Command, EXIT } from '../program/command.ts'
import { JOB_FIELDS } from '../jobs/fields.ts'
import { jobText } from '../jobs/job-text.ts'
import { withMill } from '../with-mill.ts'

export const jobsShow: Command = {
  words: 'jobs show',
  takes: 'ID',
  arguments: [1, 1],
  says: 'show a job: why it is not running, payload, attempts, errors, log lines, progress and result',
  fields: JOB_FIELDS,
  examples: [
    'jobmill jobs show 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e',
    'jobmill jobs show 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e --json | jq .payload',
  ],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const id = parsed.words[0] ?? ''
      const job = await mill.get(id)
      if (job === null) throw unknown(id)
      const [history, why] = await Promise.all([mill.history(job.id), mill.why(job.id)])
      if (parsed.has('json')) terminal.out(JSON.stringify({ ...job, history, why }))
      else terminal.out(jobText({ job, history, why, now: systemPlatform.now() }, terminal))
      return EXIT.done
    }),
}

function unknown(id: string): JobmillError {
  return new JobmillError('JOB_UNKNOWN', 'job not found', {
    field: 'ID',
    value: quote(id),
    fix: 'Check the id and the database; the job may have been deleted',
  })
}

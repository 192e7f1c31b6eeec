/** What the library calls the ids and filters of jobs, and what they are here. */
export const JOB_FIELDS: Readonly<Record<string, string>> = {
  id: 'ID',
  cursor: '--cursor',
  'filter.state': '--state',
  'filter.enqueuedFrom': '--from',
  'filter.enqueuedBefore': '--before',
}

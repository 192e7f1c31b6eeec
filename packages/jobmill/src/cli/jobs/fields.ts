/** Maps the library's field names for ids and filters to options. */
export const JOB_FIELDS: Readonly<Record<string, string>> = {
  id: 'ID',
  cursor: '--cursor',
  'filter.state': '--state',
  'filter.queue': '--queue',
  'filter.kind': '--kind',
  'filter.endedFrom': '--ended-from',
  'filter.endedBefore': '--ended-before',
  'filter.enqueuedFrom': '--from',
  'filter.enqueuedBefore': '--before',
}

/** Names may have a slash in them. */
export const scheduleAddress = (name: string): string => `/schedules/${encodeURIComponent(name)}`

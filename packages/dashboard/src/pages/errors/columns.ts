/** The column grid of the error groups, shared by header and rows. */
export const COLUMNS = 'lg:grid lg:grid-cols-[minmax(0,1fr)_6rem_4.5rem_4.5rem_6rem_6rem_8rem] lg:gap-x-4'

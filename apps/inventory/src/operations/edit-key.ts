/** Bucket `admission`: where a part of a change of several nodes at once stands, before and after that is decided. */
export const partKey = (edit: string, part: number): string => `${edit}=${part}`;

const EDIT_KEY = /^(edit-[a-z0-9-]+)=\d+$/;
/** Edit to which the key belongs; undefined: it is another one of the bucket. */
export const editOf = (key: string): string | undefined => EDIT_KEY.exec(key)?.[1];

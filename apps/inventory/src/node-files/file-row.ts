/** One node of a file, as it stands there: checked by nobody yet. */
export interface FileRow {
  /** Where it begins; the first line is 1. */
  line: number;
  row: Record<string, unknown>;
}

export interface FileError {
  line: number;
  node?: string;
  message: string;
}

export interface FileContent {
  rows: FileRow[];
  errors: FileError[];
}

/** A text that is part of what a service is made of. */
export interface PartText {
  /** Bytes. */
  size: number;
  sha256: string;
  /** Absent: it is too large, or no text. */
  text?: string;
}

/** What the checksum of a service's effective configuration is taken of, in clear: never stored or shown as it is. */
export interface ServiceParts {
  /** Version, host group, mode. */
  settings: Record<string, string>;
  /** Those that count, with what was merged into them. */
  variables: Record<string, unknown>;
  /** Below `templates/`, rendered. */
  templates: Record<string, PartText>;
  /** Below `files/`. */
  files: Record<string, PartText>;
  /** What was known to be secret when they were made, whether it counts or not. */
  secrets: unknown[];
}

/** A file of the node that is not as it would be set up. */
export interface StandingFile {
  service: string;
  /** On the node. */
  path: string;
  wanted: PartText;
  /** Absent: it is missing. */
  stands?: PartText;
}

/** What a run has gathered about one node. */
export interface NodeParts {
  /** As it would be set up now, by service. */
  now: ReadonlyMap<string, ServiceParts>;
  /** As it was set up last, by service: what the node keeps, sealed. */
  last: ReadonlyMap<string, ServiceParts>;
  /** Services of which something is kept that cannot be read, and why. */
  unreadable: ReadonlyMap<string, string>;
  standing: readonly StandingFile[];
}

import type { Bus } from '#bus';
import type { JobRecord } from '#contracts';

/** The record of a job as soon as it fits. */
export async function whenJob(bus: Bus, id: string, fits: (j: JobRecord) => boolean): Promise<JobRecord> {
  const view = await bus.bucket<JobRecord>('jobs').view();
  try {
    return await new Promise((resolve) => {
      const look = (): void => {
        const value = view.get(id)?.value;
        if (value !== undefined && fits(value)) resolve(value);
      };
      view.onChange(look);
      look();
    });
  } finally {
    await view.close();
  }
}

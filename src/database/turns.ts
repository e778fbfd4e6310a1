/** What waits of several senders, who take turns: each sender's jobs are in order, and one of each comes before the next. */
export class Turns<Job> {
  /** The sender whose turn it is comes first. */
  private readonly queues = new Map<string, Job[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(sender: string, job: Job): void {
    const jobs = this.queues.get(sender) ?? [];
    this.queues.set(sender, jobs);
    jobs.push(job);
    this.count += 1;
  }

  /** Takes out the next job of those that may go. */
  shift(mayGo: (job: Job) => boolean = () => true): Job | undefined {
    for (const [sender, jobs] of this.queues) {
      const job = jobs.find(mayGo);
      if (job === undefined) continue;
      this.remove(sender, job);
      this.queues.delete(sender);
      if (jobs.length > 0) this.queues.set(sender, jobs);
      return job;
    }
    return undefined;
  }

  remove(sender: string, job: Job): void {
    const jobs = this.queues.get(sender) ?? [];
    const place = jobs.indexOf(job);
    if (place < 0) return;
    jobs.splice(place, 1);
    if (jobs.length === 0) this.queues.delete(sender);
    this.count -= 1;
  }

  /** Takes out the newest job of whoever has most waiting, if that is more than this sender has with one more. */
  giveWayTo(sender: string): Job | undefined {
    const own = this.queues.get(sender)?.length ?? 0;
    const [longest = '', most = []] = [...this.queues].reduce(longer, [sender, [] as Job[]]);
    const newest = most.length > own + 1 ? most.at(-1) : undefined;
    if (newest !== undefined) this.remove(longest, newest);
    return newest;
  }
}

function longer<Job>(one: [string, Job[]], other: [string, Job[]]): [string, Job[]] {
  return other[1].length > one[1].length ? other : one;
}

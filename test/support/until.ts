export async function until(holds: () => Promise<boolean> | boolean, patienceMs = 60_000, everyMs = 25): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await holds());) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

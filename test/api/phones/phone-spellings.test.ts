import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES, unstableReading, trunkPrefixes } from '../../support/example-phones';
import { insertPerson } from '../../support/people';
import { stage } from '../../support/stage';

const PAGE = join(__dirname, '..', '..', '..', 'docs', 'upgrading.md');
const [LOOKING = ''] = [...readFileSync(PAGE, 'utf8').matchAll(/```sql\n(.*?)```/gs)]
  .map(([, sql = '']) => sql)
  .filter((sql) => sql.includes('FROM phones'));

describe('the SQL of docs/upgrading.md', () => {
  const { app } = stage();

  it('finds phones that were stored in a second spelling, and no others', async () => {
    const { id: user_id } = await insertPerson(app);
    const right = EXAMPLES.map(({ region, digits }) => ({ phone: `+${region}${digits}`, region }));
    const landlines = [
      { phone: '+390612345678', region: '39' },
      { phone: '+3780549886377', region: '378' },
    ];
    const second = EXAMPLES.flatMap(({ region, digits }) =>
      trunkPrefixes(region).flatMap((prefix) => {
        const phone = unstableReading(region, `${prefix}${digits}`);
        return phone === undefined ? [] : [{ phone, region }];
      }),
    );
    expect(second.length).toBeGreaterThan(45);
    // Several countries may share an example.
    for (const row of [...right, ...landlines, ...second])
      await app
        .db('phones')
        .insert({ ...row, user_id })
        .onConflict('phone')
        .ignore();
    const { rows } = await app.db.raw<{ rows: { phone: string }[] }>(LOOKING);
    expect(rows.map(({ phone }) => phone)).toEqual([...new Set(second.map(({ phone }) => phone))].sort());
  });
});

import '../../src/admin/support-repository';
import '../../src/admin/tokens-repository';
import '../../src/composition/operations';
import '../../src/composition/repositories';
import '../../src/composition/services';

/** Every statement of the service by its name: importing a repository makes its statements. */
export { distributedForms, statements } from '../../src/database/statement';

// Hands the token of the link that the service prints on to the pages that need it.
import { fragment } from './messages.mjs';

for (const link of document.querySelectorAll('.with-token')) link.hash = fragment();

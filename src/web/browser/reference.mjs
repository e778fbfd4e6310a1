// Swagger UI, adapted to this service: the session is a cookie, which the browser sends by itself.
const { SwaggerUIBundle } = globalThis;

/** Layout with only the operations: the rest is on this page already, or sets credentials other than cookies. */
function reference({ React: { createElement, useState } }) {
  /** Search field with a label. Swagger UI's has none, and its placeholder does not mention paths. */
  const Search = ({ layoutActions }) =>
    createElement('input', {
      type: 'search',
      className: 'search',
      placeholder: 'Search: a path or a group',
      'aria-label': 'Search the operations',
      onChange: ({ target }) => layoutActions.updateFilter(target.value.trim()),
    });
  /** Folds the answers that most operations share, about ten per operation. */
  const Folded = ({ Original, ...props }) => {
    const [isOpen, setOpen] = useState(false);
    const { responses, path, method } = props;
    const refs = description.paths[path]?.[method]?.responses ?? {};
    const isUsual = (_response, status) => USUAL.has(refs[status]?.$ref);
    const folded = responses.filter(isUsual).keySeq().join(', ');
    if (folded === '') return createElement(Original, props);
    return createElement(
      'div',
      null,
      createElement(Original, { ...props, responses: isOpen ? responses : responses.filterNot(isUsual) }),
      createElement(
        'button',
        { type: 'button', className: 'usual', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
        `${isOpen ? 'Hide' : 'Show'} answers common to most operations: ${folded}`,
      ),
    );
  };
  const Reference = ({ getComponent, specSelectors }) =>
    createElement(
      'div',
      { className: 'swagger-ui' },
      createElement(getComponent('SvgAssets')),
      createElement(getComponent('errors', true)),
      createElement(getComponent('Markdown', true), { source: specSelectors.info().get('description') ?? '' }),
      createElement(getComponent('Search', true)),
      createElement(getComponent('operations', true)),
    );
  const named = (name) => (Original) => (props) => createElement(Original, { 'aria-label': name, ...props });
  const unseen = (words) => createElement('span', { className: 'unseen' }, words);
  return {
    components: { Reference, Search },
    wrapComponents: {
      responses: (Original) => (props) => createElement(Folded, { ...props, Original }),
      authorizeOperationBtn: () => () => null,
      // A link inside a button does not work with a keyboard.
      DeepLink:
        () =>
        ({ text }) =>
          createElement('span', null, text),
      // Names for screen readers, which these elements lack.
      TextArea: named('Body'),
      Input: (Original) => (props) => named(props.type === 'file' ? 'File' : 'Value')(Original)(props),
      JSONSchema202012Accordion: (Original) => (props) =>
        createElement(Original, props, unseen('Schema '), props.children),
    },
  };
}

/** Returns references of the answers that more than half of the operations have. */
function usualIn({ paths }) {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const counts = new Map();
  for (const { $ref } of operations.flatMap(({ responses = {} }) => Object.values(responses)))
    if ($ref) counts.set($ref, (counts.get($ref) ?? 0) + 1);
  return new Set([...counts.keys()].filter(($ref) => counts.get($ref) > operations.length / 2));
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

const description = await (await fetch('openapi.json')).json();
const USUAL = usualIn(description);
SwaggerUIBundle({
  // This page may have another address than clients use, and may only call that address.
  spec: { ...description, servers: [{ url: new URL('.', document.baseURI).href }] },
  dom_id: '#swagger',
  plugins: [reference],
  layout: 'Reference',
  tryItOutEnabled: true,
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  // The default would call an external service.
  validatorUrl: null,
});

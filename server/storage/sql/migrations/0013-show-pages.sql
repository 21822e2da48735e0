-- What the viewer page says about the show besides its title, in JSON (`ShowPage`); null: nothing.
alter table streams add column show_page text;
